import { expect, test } from "vitest";
import { debian } from "../../../index-builder/vendors/debian.ts";
import { artifactLines, builtFrom } from "../recorded-vendor.ts";

test("stable and oldstable are published, and stable has the alias latest", async () => {
  const { distro } = await builtFrom(debian);
  expect(distro.releases.map(({ id, version, title, aliases }) => [id, version, title, aliases])).toEqual([
    ["trixie", "13.7", "Debian 13.7 (trixie) — stable", ["latest"]],
    ["bookworm", "12.15", "Debian 12.15 (bookworm) — oldstable", []],
  ]);
});

test("the newest dated build has the current point release, because it was built after the day of that release", async () => {
  const { builds } = await builtFrom(debian);
  expect(builds("trixie").map(({ build, point_release }) => [build, point_release])).toEqual([[
    "20261001-2618",
    "13.7",
  ]]);
  expect(builds("bookworm").map(({ build, point_release }) => [build, point_release])).toEqual([[
    "20261006-2623",
    "12.15",
  ]]);
});

test("an image that is redirected to a mirror is published without the mirror's ETag and date", async () => {
  const { builds } = await builtFrom(debian);
  const artifact = builds("trixie")[0]!.artifacts[0]!;
  expect(artifact.locations[0]!.redirects_off_host).toBe(true);
  expect(artifact.integrity!.http).toBeNull();
  expect(artifact.size).toBe(341508096);
});

test("arm64 and the generic variant are published", async () => {
  const { builds } = await builtFrom(debian, ["wide/debian", "t0"]);
  expect(artifactLines(builds("trixie")[0]).map((line) => line.split(" ")[0])).toEqual([
    "genericcloud/x86_64/qcow2",
    "genericcloud/aarch64/qcow2",
    "generic/x86_64/qcow2",
    "generic/aarch64/qcow2",
  ]);
});
