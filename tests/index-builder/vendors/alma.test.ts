import { expect, test } from "vitest";
import { alma } from "../../../index-builder/vendors/alma.ts";
import { artifactLines, builtFrom, runRecorded } from "../recorded-vendor.ts";

const WIDE = ["wide/alma", "t0"];

test("every major version is a release, newest first, and the newest has the alias latest", async () => {
  const { distro } = await builtFrom(alma);
  expect(distro.releases.map(({ id, version, title, aliases }) => [id, version, title, aliases])).toEqual([
    ["10", "10", "AlmaLinux 10", ["latest"]],
    ["9", "9", "AlmaLinux 9", []],
    ["8", "8", "AlmaLinux 8", []],
  ]);
});

test("the build is the dated image that has the same hash as the `latest` file", async () => {
  const { builds } = await builtFrom(alma);
  const seen = ["10", "9", "8"].map((release) => {
    const build = builds(release)[0]!;
    return [build.build, build.point_release, artifactLines(build)];
  });
  expect(seen).toEqual([
    ["10.2-20260817.0", "10.2", ["genericcloud/x86_64/qcow2 sha256:bc59485c"]],
    ["9.8-20261005", "9.8", ["genericcloud/x86_64/qcow2 sha256:25942b55"]],
    ["8.10-20260928", "8.10", ["genericcloud/x86_64/qcow2 sha256:4a4dfcbd"]],
  ]);
});

test("the digest is the dated file's digest in CHECKSUM, and the signature has the key of the major version", async () => {
  const { builds } = await builtFrom(alma);
  const { digests, signatures } = builds("9")[0]!.artifacts[0]!.integrity!;
  const folder = "https://repo.almalinux.org/almalinux/9/cloud/x86_64/images/";
  expect(digests[0]!.source).toEqual({
    url: `${folder}CHECKSUM`,
    format: "gnu",
    filename: "AlmaLinux-9-GenericCloud-9.8-20261005.x86_64.qcow2",
  });
  expect(signatures).toEqual([{
    url: `${folder}CHECKSUM.asc`,
    kind: "pgp_detached",
    signs: `${folder}CHECKSUM`,
    key_url: "https://repo.almalinux.org/almalinux/RPM-GPG-KEY-AlmaLinux-9",
  }]);
});

test("the current image is the image with the hash of the `latest` file, not the image with the newest date", async () => {
  const { builds } = await builtFrom(alma, WIDE);
  expect(builds("10").map(({ build }) => build)).toEqual(["10.2-20260817.10"]);
});

test("the variants ext4 and UEFI, and aarch64 and x86_64_v2, are published; images for OpenNebula are not", async () => {
  const { builds } = await builtFrom(alma, WIDE);
  const kinds = (release: string) =>
    builds(release).map((build) => [build.build, ...artifactLines(build).map((line) => line.split(" ")[0])]);
  expect(kinds("10")).toEqual([[
    "10.2-20260817.10",
    "genericcloud/x86_64/qcow2",
    "genericcloud/x86_64_v2/qcow2",
    "genericcloud-ext4/x86_64/qcow2",
  ]]);
  expect(kinds("9")).toEqual([
    [
      "9.8-20261005",
      "genericcloud/x86_64/qcow2",
      "genericcloud/aarch64/qcow2",
      "genericcloud-ext4/x86_64/qcow2",
      "genericcloud-ext4/aarch64/qcow2",
    ],
    ["9.8-20260526", "genericcloud/s390x/qcow2"],
  ]);
  expect(kinds("8")).toEqual([["8.10-20260928", "genericcloud/x86_64/qcow2", "genericcloud-uefi/x86_64/qcow2"]]);
  expect(builds("8")[0]!.artifacts.map(({ firmware, default_variant }) => [firmware, default_variant])).toEqual([
    [[], true],
    [["uefi"], false],
  ]);
});

test("an architecture is left out if its `latest` file matches no dated image, or if it matches a newer image than the x86_64 image", async () => {
  const { builds, outcome } = await builtFrom(alma, WIDE);
  expect(builds("9").flatMap(artifactLines).join()).not.toContain("ppc64le");
  expect(builds("10").flatMap(artifactLines).join()).not.toContain("s390x");
  expect(outcome.notes.map(({ text }) => text).join("\n")).toContain("genericcloud s390x 10.2-20261008.0: left out");
});

test("the newest dated image of an ended point release in the vault is archived", async () => {
  const { archived } = await builtFrom(alma, WIDE);
  const [build, ...more] = archived.get("9")!;
  expect(more).toEqual([]);
  expect([build!.build, build!.point_release]).toEqual(["9.7-20260414", "9.7"]);
  expect(artifactLines(build).map((line) => line.split(" ")[0])).toEqual([
    "genericcloud/x86_64/qcow2",
    "genericcloud/aarch64/qcow2",
    "genericcloud-ext4/x86_64/qcow2",
  ]);
  expect(build!.artifacts[0]!.locations).toMatchObject([{
    url: "https://vault.almalinux.org/9.7/cloud/x86_64/images/AlmaLinux-9-GenericCloud-9.7-20260414.x86_64.qcow2",
    kind: "vault",
  }]);
});

test("an old point release of AlmaLinux 8 is archived with its signature but without its expired key", async () => {
  const { archived } = await builtFrom(alma, WIDE);
  const [build] = archived.get("8")!;
  expect(build!.build).toBe("8.9-20240102");
  expect(build!.artifacts[0]!.integrity!.signatures.map(({ key_url }) => key_url)).toEqual([null]);
});

test("an archived build stays when the vault no longer has it", async () => {
  const first = await builtFrom(alma, WIDE);
  const { archived } = await builtFrom(alma, ["t0"], { previous: first.outcome.tree });
  expect(archived.get("9")).toEqual(first.archived.get("9"));
});

test("a `latest` file that matches no dated image fails the vendor", async () => {
  const outcome = await runRecorded(alma, ["wide/alma-rolling", "t0"]);
  expect(outcome).toMatchObject({ ok: false, error: expect.stringContaining("no dated image has the hash") });
});
