import { expect, test } from "vitest";
import { fedora } from "../../../index-builder/vendors/fedora.ts";
import { artifactLines, builtFrom, runRecorded } from "../recorded-vendor.ts";

const WIDE = ["wide/fedora", "t0"];
/** A time for the recorded responses WIDE, in which 100 is the latest release. */
const LATER = { now: new Date("2053-01-10T05:17:00Z") };

test("supported releases, with Bodhi's end dates, and the pre-release are published; archived releases are not", async () => {
  const { distro } = await builtFrom(fedora);
  expect(distro.releases.map(({ id, version, title, aliases, eol_date }) => [id, version, title, aliases, eol_date]))
    .toEqual([
      ["45_Beta", "45 Beta", "Fedora 45 Beta", ["dev"], null],
      ["44", "44", "Fedora 44", ["latest"], "2027-06-02"],
      ["43", "43", "Fedora 43", [], "2026-12-02"],
    ]);
  expect(distro.dev_channel).toBe("beta");
});

test("the build id comes from the image's name, and the digest from the clear-signed CHECKSUM in its folder", async () => {
  const { builds } = await builtFrom(fedora);
  const seen = ["45_Beta", "44", "43"].map((release) => [builds(release)[0]!.build, artifactLines(builds(release)[0])]);
  expect(seen).toEqual([
    ["45_Beta-1.3", ["cloud-base-generic/x86_64/qcow2 sha256:06bd4382"]],
    ["44-1.7", ["cloud-base-generic/x86_64/qcow2 sha256:28680fe5"]],
    ["43-1.6", ["cloud-base-generic/x86_64/qcow2 sha256:846574c8"]],
  ]);
  const [artifact] = builds("44")[0]!.artifacts;
  const url = "https://download.fedoraproject.org/pub/fedora/linux/releases/44/Cloud/x86_64/images/" +
    "Fedora-Cloud-44-1.7-x86_64-CHECKSUM";
  expect(artifact!.integrity!.signatures).toEqual([
    { url, signs: url, kind: "pgp_clearsigned", key_url: "https://fedoraproject.org/fedora.gpg" },
  ]);
  expect(artifact!.locations[0]!.redirects_off_host).toBe(true);
  expect(artifact!.size).toBe(583729152);
});

test("release 100 is newer than 99; old image names are parsed; an archived release is left out", async () => {
  const { distro, builds } = await builtFrom(fedora, WIDE, LATER);
  expect(distro.releases.map(({ id, aliases, eol_date }) => [id, aliases, eol_date])).toEqual([
    ["101_Beta", ["dev"], null],
    ["100", ["latest"], "2054-05-20"],
    ["99", [], null],
    ["98", [], "2053-05-20"],
  ]);
  expect(builds("98").map(({ build }) => build)).toEqual(["98-1.14"]);
});

test("UEFI-UKI and the other architectures are published; images for OpenStack and images on other hosts are not", async () => {
  const { builds } = await builtFrom(fedora, WIDE, LATER);
  expect(builds("100").map((build) => [build.build, ...artifactLines(build)])).toEqual([
    [
      "100-1.10",
      "cloud-base-generic/x86_64/qcow2 sha256:b0f28223",
      "cloud-base-generic/aarch64/qcow2 sha256:bea7b72d",
      "cloud-base-uefi-uki/x86_64/qcow2 sha256:6bb1c763",
      "cloud-base-uefi-uki/aarch64/qcow2 sha256:5c76d287",
    ],
    ["100-1.9", "cloud-base-generic/s390x/qcow2 sha256:1d6d43fd"],
  ]);
  expect(builds("100")[0]!.artifacts.map(({ firmware, default_variant }) => [firmware, default_variant])).toEqual([
    [[], true],
    [[], true],
    [["uefi"], false],
    [["uefi"], false],
  ]);
});

test("an image whose hash in the list differs from CHECKSUM is left out", async () => {
  const { builds, outcome } = await builtFrom(fedora, WIDE, LATER);
  expect(builds("100").flatMap(artifactLines).join()).not.toContain("ppc64le");
  expect(outcome.notes.map(({ text }) => text).join("\n")).toContain(
    "the hash of Fedora-Cloud-Base-Generic-100-1.10.ppc64le.qcow2 differs",
  );
});

test("a release without a pinned key is published, without a key", async () => {
  const { builds } = await builtFrom(fedora, WIDE, LATER);
  expect(builds("100")[0]!.artifacts[0]!.integrity!.signatures.map(({ key_url }) => key_url)).toEqual([null]);
});

test("a release unknown to Bodhi, or unexpected image names, fail the vendor", async () => {
  const silent = await runRecorded(fedora, ["wide/fedora-without-bodhi", "t0"]);
  expect(silent).toMatchObject({ ok: false, error: expect.stringContaining("releases/F43") });
  const renamed = await runRecorded(fedora, ["wide/fedora-renamed", "t0"]);
  expect(renamed).toMatchObject({ ok: false, error: expect.stringContaining("no Generic image of 44") });
});
