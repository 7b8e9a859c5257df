import { expect, test } from "vitest";
import { opensuse } from "../../../index-builder/vendors/opensuse.ts";
import { artifactLines, builtFrom, runRecorded } from "../recorded-vendor.ts";

const WIDE = ["wide/opensuse", "t0"];

test("the stable Leap has the alias latest, the candidate has dev, and 15.6 is left out because it has ended", async () => {
  const { distro } = await builtFrom(opensuse);
  expect(distro.name).toBe("openSUSE Leap");
  expect(distro.releases.map(({ id, version, title, aliases }) => [id, version, title, aliases])).toEqual([
    ["16.1", "16.1", "openSUSE Leap 16.1 (RC)", ["dev"]],
    ["16.0", "16.0", "openSUSE Leap 16.0", ["latest"]],
  ]);
  expect(distro.dev_channel).toBe("rc");
});

test("the newest Cloud build is published with the hash of its checksum file", async () => {
  const { builds } = await builtFrom(opensuse);
  expect(["16.1", "16.0"].map((release) => builds(release).map((build) => [build.build, ...artifactLines(build)])))
    .toEqual([
      [["16.1-Build3.5", "minimal-vm-cloud/x86_64/qcow2 sha256:ab7518ed"]],
      [["16.0-Build18.73", "minimal-vm-cloud/x86_64/qcow2 sha256:34bcca24"]],
    ]);
  const [artifact] = builds("16.0")[0]!.artifacts;
  expect([artifact!.size, artifact!.locations[0]!.redirects_off_host]).toEqual([337355264, true]);
});

test("in later recorded responses, Build19.143 follows Build19.99; names without a build, other flavours and versions are skipped", async () => {
  const { builds } = await builtFrom(opensuse, WIDE);
  expect(builds("16.0").map((build) => [build.build, ...artifactLines(build)])).toEqual([
    [
      "16.0-Build19.143",
      "minimal-vm-cloud/x86_64/qcow2 sha256:ddab8eac",
      "minimal-vm-cloud/aarch64/qcow2 sha256:0dfa6fd4",
      "minimal-vm-cloud/ppc64le/qcow2 sha256:ba8f77ac",
    ],
    ["16.0-Build19.10", "minimal-vm-cloud/s390x/qcow2 sha256:fe608e13"],
  ]);
});

test("the longer names of 15.x, and its checksum files with one space, are read", async () => {
  const { builds } = await builtFrom(opensuse, WIDE);
  expect(builds("15.6").map((build) => [build.build, ...artifactLines(build)])).toEqual([[
    "15.6.0-Build19.146",
    "minimal-vm-cloud/x86_64/qcow2 sha256:37053b8a",
    "minimal-vm-cloud/aarch64/qcow2 sha256:f888534a",
    "minimal-vm-cloud/s390x/qcow2 sha256:8010da98",
  ]]);
});

test("the checksum file's signature is published with the project's key", async () => {
  const { builds } = await builtFrom(opensuse, WIDE);
  const [artifact] = builds("16.0")[0]!.artifacts;
  expect(artifact!.integrity!.signatures).toMatchObject([{
    kind: "pgp_detached",
    url: `${artifact!.locations[0]!.url}.sha256.asc`,
    key_url: "https://download.opensuse.org/tumbleweed/repo/oss/repodata/repomd.xml.key",
  }]);
});

test("a pre-release without images is left out; a stable version without images fails the vendor", async () => {
  const { distro } = await builtFrom(opensuse, WIDE);
  expect(distro.releases.map(({ id }) => id)).toEqual(["16.0", "15.6"]);
  expect(distro.dev_channel).toBeNull();
  const pointer = await runRecorded(opensuse, ["wide/opensuse-pointer-only", "t0"]);
  expect(pointer).toMatchObject({ ok: false, error: expect.stringContaining("no Minimal-VM Cloud image") });
});

test("a document without versions fails the vendor", async () => {
  const outcome = await runRecorded(opensuse, ["wide/opensuse-empty", "t0"]);
  expect(outcome).toMatchObject({ ok: false, error: expect.stringContaining("distributions.json: Leap") });
});
