import { expect, test } from "vitest";
import { talos } from "../../../index-builder/vendors/talos.ts";
import { artifactLines, builtFrom, runRecorded } from "../recorded-vendor.ts";

test("the channel resolves to the series of the newest release, which has the alias latest", async () => {
  const { distro } = await builtFrom(talos);
  expect(distro.releases.map(({ id, version, title, aliases }) => [id, version, title, aliases])).toEqual([
    ["1.14", "1.14", "Talos Linux 1.14", ["latest"]],
  ]);
  expect(distro.dev_channel).toBeNull();
});

test("the version is the build id; the factory gives hashes only to customers, so the image has no digest", async () => {
  const { builds } = await builtFrom(talos);
  expect(builds("1.14").map(({ build, point_release, published_at }) => [build, point_release, published_at])).toEqual([
    ["1.14.2", null, "2026-09-29T20:44:07Z"],
  ]);
  expect(artifactLines(builds("1.14")[0])).toEqual(["nocloud/x86_64/raw no digest"]);
  expect(builds("1.14")[0]!.artifacts[0]).toMatchObject({
    compression: "xz",
    datasources: ["nocloud"],
    ssh_key_injection: false,
    size: 232010648,
  });
});

test("a newer version without a hash replaces an older version", async () => {
  const before = await builtFrom(talos);
  const { builds, outcome } = await builtFrom(talos, ["wide/talos", "t0"], { previous: before.outcome.tree });
  expect(builds("1.14").map(({ build }) => build)).toEqual(["1.14.10"]);
  expect(artifactLines(builds("1.14")[0])).toEqual(["nocloud/x86_64/raw no digest", "nocloud/aarch64/raw no digest"]);
  expect(outcome.notes).toEqual([]);
});

test("a hash that the factory gives is published", async () => {
  const { builds } = await builtFrom(talos, ["wide/talos-with-hashes", "t0"]);
  expect(artifactLines(builds("1.15")[0])).toEqual([
    "nocloud/x86_64/raw sha256:94358090",
    "nocloud/aarch64/raw sha256:17d92f3c",
  ]);
  expect(builds("1.15")[0]!.artifacts[0]!.integrity!.digests[0]!.source).toMatchObject({
    format: "gnu",
    filename: "nocloud-amd64.raw.xz",
  });
});

test("the vendor fails if a request for the hash is answered with neither 200 nor 402", async () => {
  expect(await runRecorded(talos, ["wide/talos-refused", "t0"])).toMatchObject({
    ok: false,
    error: expect.stringMatching(/^refused: GET \S+nocloud-amd64\.raw\.xz\.sha256: status 403$/),
  });
  expect(await runRecorded(talos, ["wide/talos-without-hashes", "t0"])).toMatchObject({ ok: false });
});

test("the vendor fails if the newest release is a pre-release", async () => {
  expect(await runRecorded(talos, ["wide/talos-prerelease", "t0"])).toMatchObject({
    ok: false,
    error: expect.stringMatching(/^unreadable: https:\/\/api\.github\.com\/\S+: prerelease/),
  });
});
