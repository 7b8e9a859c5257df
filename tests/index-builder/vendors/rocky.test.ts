import { expect, test } from "vitest";
import { rocky } from "../../../index-builder/vendors/rocky.ts";
import { artifactLines, builtFrom, runRecorded } from "../recorded-vendor.ts";

const WIDE = ["wide/rocky", "t0"];

test("every major version is a release, newest first, and the newest has the alias latest", async () => {
  const { distro } = await builtFrom(rocky);
  expect(distro.releases.map(({ id, version, title, aliases }) => [id, version, title, aliases])).toEqual([
    ["10", "10", "Rocky Linux 10", ["latest"]],
    ["9", "9", "Rocky Linux 9", []],
    ["8", "8", "Rocky Linux 8", []],
  ]);
  expect(distro.dev_channel).toBeNull();
});

test("the newest dated Base image is the build, with the hash and size of its CHECKSUM", async () => {
  const { builds } = await builtFrom(rocky);
  const seen = ["10", "9", "8"].map((release) => {
    const build = builds(release)[0]!;
    return [build.build, build.point_release, artifactLines(build), build.artifacts[0]!.size];
  });
  expect(seen).toEqual([
    ["10.2-20260525.0", "10.2", ["base/x86_64/qcow2 sha256:9fc9e9ff"], 544997376],
    ["9.8-20260525.0", "9.8", ["base/x86_64/qcow2 sha256:92c206cc"], 645988352],
    ["8.10-20240528.0", "8.10", ["base/x86_64/qcow2 sha256:e56066c5"], 2065760256],
  ]);
});

test("the signatures of 9 and 10 are published with their keys; release 8 has no signature", async () => {
  const { builds } = await builtFrom(rocky);
  const keys = ["10", "9", "8"].map((release) =>
    builds(release)[0]!.artifacts[0]!.integrity!.signatures.map(({ key_url }) => key_url)
  );
  expect(keys).toEqual([
    ["https://download.rockylinux.org/pub/rocky/RPM-GPG-KEY-Rocky-10"],
    ["https://download.rockylinux.org/pub/rocky/RPM-GPG-KEY-Rocky-9"],
    [],
  ]);
});

test("rebuild 10 of a day is newer than rebuild 9, and release 10.10 than 10.9; copies and EC2 images are skipped", async () => {
  const { builds } = await builtFrom(rocky, WIDE);
  expect(builds("9").map(({ build, point_release }) => [build, point_release])).toEqual([
    ["9.9-20261120.10", "9.9"],
    ["9.9-20261115.0", "9.9"],
  ]);
  expect(builds("10").map(({ build }) => build)).toEqual(["10.10-20290520.0"]);
});

test("LVM and the other architectures are published; one architecture has an older image, in a build of its own", async () => {
  const { builds } = await builtFrom(rocky, WIDE);
  const [newest, lagging] = builds("9");
  expect(artifactLines(newest)).toEqual([
    "base/x86_64/qcow2 sha256:012bf97e",
    "base/aarch64/qcow2 sha256:79578d66",
    "lvm/x86_64/qcow2 sha256:0fa14d8c",
    "lvm/aarch64/qcow2 sha256:8c78405c",
  ]);
  expect(newest!.artifacts.map(({ default_variant }) => default_variant)).toEqual([true, true, false, false]);
  expect(artifactLines(lagging).map((line) => line.split(" ")[0])).toEqual(["base/ppc64le/qcow2"]);
  expect(artifactLines(builds("10")[0]).map((line) => line.split(" ")[0])).toEqual([
    "base/x86_64/qcow2",
    "base/riscv64/qcow2",
  ]);
});

test("an architecture whose image is newer than the x86_64 image is left out with a warning", async () => {
  const { builds, outcome } = await builtFrom(rocky, WIDE);
  expect(builds("9").flatMap(artifactLines).join()).not.toContain("s390x");
  expect(outcome.notes.map(({ text }) => text).join("\n")).toContain("base s390x 9.9-20261201.0: left out until");
});

test("the vault's final build of an ended point release is archived, signed or not", async () => {
  const { archived } = await builtFrom(rocky, WIDE);
  expect(archived.get("9")?.map(({ build, point_release }) => [build, point_release])).toEqual([
    ["9.8-20260601.1", "9.8"],
  ]);
  const [x86, arm, lvm] = archived.get("9")![0]!.artifacts;
  expect([x86!.arch, arm!.arch, lvm!.variant]).toEqual(["x86_64", "aarch64", "lvm"]);
  expect(x86!.locations).toMatchObject([{ kind: "vault" }]);
  expect(x86!.integrity!.signatures).toHaveLength(1);
  expect(arm!.integrity!.signatures).toHaveLength(0);
  expect(archived.get("8")?.map(({ build }) => build)).toEqual(["8.9-20231119.0"]);
});

test("an archived build stays when the vault no longer has it", async () => {
  const first = await builtFrom(rocky, WIDE);
  const { archived } = await builtFrom(rocky, ["t0"], { previous: first.outcome.tree });
  expect(archived.get("9")).toEqual(first.archived.get("9"));
});

test("a listing that has only copies (latest), or a page that is not a listing, fails the vendor", async () => {
  const pointer = await runRecorded(rocky, ["wide/rocky-pointer-only", "t0"]);
  expect(pointer).toMatchObject({ ok: false, error: expect.stringContaining("no dated GenericCloud-Base image") });
  const html = await runRecorded(rocky, ["wide/rocky-html", "t0"]);
  expect(html).toMatchObject({ ok: false, error: expect.stringContaining("not a directory listing") });
});
