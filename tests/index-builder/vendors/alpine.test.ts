import { expect, test } from "vitest";
import { alpine } from "../../../index-builder/vendors/alpine.ts";
import { artifactLines, builtFrom, runRecorded } from "../recorded-vendor.ts";

const WIDE = ["wide/alpine", "t0"];

test("every supported branch is a release, and the newest has the alias latest; edge and ended branches are left out", async () => {
  const { distro } = await builtFrom(alpine);
  expect(distro.releases.map(({ id, version, title, aliases, eol_date }) => [id, version, title, aliases, eol_date]))
    .toEqual([
      ["3.24", "3.24.2", "Alpine Linux v3.24", ["latest"], "2028-06-01"],
      ["3.23", "3.23.6", "Alpine Linux v3.23", [], "2027-11-01"],
      ["3.22", "3.22.6", "Alpine Linux v3.22", [], "2027-05-01"],
      ["3.21", "3.21.8", "Alpine Linux v3.21", [], "2026-11-01"],
    ]);
});

test("a branch is left out from its end date on", async () => {
  const ids = async (now: string) =>
    (await builtFrom(alpine, ["t0"], { now: new Date(now) })).distro.releases.map(({ id }) => id);
  expect(await ids("2026-10-31T23:59:59Z")).toContain("3.21");
  expect(await ids("2026-11-01T00:00:00Z")).not.toContain("3.21");
});

test("the build id is the version and rebuild in the image's name, which may be older than the branch's newest version", async () => {
  const { builds } = await builtFrom(alpine);
  const seen = ["3.24", "3.23", "3.22", "3.21"].map((release) => {
    const build = builds(release)[0]!;
    return [build.build, build.point_release, artifactLines(build), build.artifacts[0]!.firmware];
  });
  expect(seen).toEqual([
    ["3.24.2-r0", "3.24.2", ["cloudinit/x86_64/qcow2 sha512:c9504d23"], []],
    ["3.23.4-r0", "3.23.4", ["cloudinit/x86_64/qcow2 sha512:849196e2"], ["uefi"]],
    ["3.22.4-r0", "3.22.4", ["cloudinit/x86_64/qcow2 sha512:1b8743fc"], ["uefi"]],
    ["3.21.7-r0", "3.21.7", ["cloudinit/x86_64/qcow2 sha512:779afcc0"], ["uefi"]],
  ]);
});

test("the checksum document contains only the hash, and the signature is over the image", async () => {
  const { builds } = await builtFrom(alpine);
  const { locations, integrity } = builds("3.24")[0]!.artifacts[0]!;
  const { url } = locations[0]!;
  expect(integrity!.digests[0]!.source).toEqual({ url: `${url}.sha512`, format: "bare", filename: null });
  expect(integrity!.signatures).toEqual([
    { url: `${url}.asc`, kind: "pgp_detached", signs: url, key_url: "https://alpinelinux.org/keys/tomalok.asc" },
  ]);
});

test("in later recorded responses, r10 follows r9, and 3.22.10 follows 3.22.9; metal, tiny and cloud images are skipped", async () => {
  const { builds } = await builtFrom(alpine, WIDE);
  expect(builds("3.24").map((build) => [build.build, ...artifactLines(build)])).toEqual([
    ["3.24.2-r10", "cloudinit/x86_64/qcow2 sha512:a6f311ee"],
    ["3.24.2-r9", "cloudinit/aarch64/qcow2 sha512:db35e662"],
  ]);
  expect(builds("3.22").map(({ build }) => build)).toEqual(["3.22.10-r0"]);
});

test("images for BIOS and for aarch64 are published, and UEFI is the default", async () => {
  const { builds } = await builtFrom(alpine, WIDE);
  expect(artifactLines(builds("3.23")[0])).toEqual([
    "cloudinit/x86_64/qcow2 sha512:6a143d42",
    "cloudinit/aarch64/qcow2 sha512:c02a5c24",
    "cloudinit-bios/x86_64/qcow2 sha512:f0270334",
  ]);
  expect(builds("3.23")[0]!.artifacts.map(({ firmware, default_variant }) => [firmware, default_variant])).toEqual([
    [["uefi"], true],
    [["uefi"], true],
    [["bios"], false],
  ]);
});

test("a branch with an empty folder is left out; unexpected names fail the vendor", async () => {
  const { distro } = await builtFrom(alpine, WIDE);
  expect(distro.releases.map(({ id }) => id)).toEqual(["3.24", "3.23", "3.22"]);
  const renamed = await runRecorded(alpine, ["wide/alpine-renamed", "t0"]);
  expect(renamed).toMatchObject({ ok: false, error: expect.stringContaining("no cloud-init image") });
});
