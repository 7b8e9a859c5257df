import { expect, test } from "vitest";
import { openbsd } from "../../../index-builder/vendors/openbsd.ts";
import { artifactLines, builtFrom, runRecorded } from "../recorded-vendor.ts";

test("the channel resolves to the version in the tag, which has the alias latest", async () => {
  const { distro } = await builtFrom(openbsd);
  expect(distro.releases.map(({ id, version, title, aliases }) => [id, version, title, aliases])).toEqual([
    ["7.9", "7.9", "OpenBSD 7.9", ["latest"]],
  ]);
  expect(distro.dev_channel).toBeNull();
});

test("the build has the tag as its id, and GitHub's time of publication", async () => {
  const { builds } = await builtFrom(openbsd);
  expect(builds("7.9").map(({ build, point_release, published_at }) => [build, point_release, published_at])).toEqual([
    ["v7.9_2026-08-31-22-45", null, "2026-08-31T22:49:09Z"],
  ]);
  expect(artifactLines(builds("7.9")[0])).toEqual(["min/x86_64/qcow2 sha256:253a2093"]);
});

test("the checksum file lists the image under the path that the image had during the build", async () => {
  const { builds } = await builtFrom(openbsd);
  const { integrity, locations } = builds("7.9")[0]!.artifacts[0]!;
  expect(integrity!.digests[0]!.source).toEqual({
    url:
      "https://github.com/hcartiaux/openbsd-cloud-image/releases/download/v7.9_2026-08-31-22-45/openbsd-min.qcow2.sha256",
    format: "gnu",
    filename: "images/openbsd-min.qcow2",
  });
  expect(locations[0]!.redirects_off_host).toBe(true);
  expect(integrity!.http).toBeNull();
});

test("in later recorded responses, a newer release is published with its generic image", async () => {
  const { distro, builds } = await builtFrom(openbsd, ["wide/openbsd", "t0"]);
  expect(distro.releases.map(({ id }) => id)).toEqual(["7.10"]);
  expect(artifactLines(builds("7.10")[0]).map((line) => line.split(" ")[0])).toEqual([
    "min/x86_64/qcow2",
    "generic/x86_64/qcow2",
  ]);
  expect(builds("7.10")[0]!.artifacts.map(({ default_variant, size }) => [default_variant, size])).toEqual([
    [true, 700000000],
    [false, 700000001],
  ]);
});

test("a pre-release, an image of another project and a release without the default image fail the vendor", async () => {
  for (
    const [web, why] of [
      ["prerelease", "prerelease"],
      ["elsewhere", "openbsd-min.qcow2 is not of this release"],
      ["renamed", "no openbsd-min.qcow2"],
    ]
  ) {
    expect(await runRecorded(openbsd, [`wide/openbsd-${web}`, "t0"])).toMatchObject({
      ok: false,
      error: expect.stringMatching(new RegExp(`^unreadable: https://api\\.github\\.com/\\S+: ${why}`)),
    });
  }
});

test("an image whose hash differs from GitHub's digest is not published; the release stays as it was", async () => {
  const webs = ["wide/openbsd-other-hash", "t0"];
  expect(await runRecorded(openbsd, webs)).toMatchObject({ ok: false });
  const before = await builtFrom(openbsd, ["wide/openbsd", "t0"]);
  const { builds, outcome } = await builtFrom(openbsd, webs, { previous: before.outcome.tree });
  expect(builds("7.10")).toEqual(before.builds("7.10"));
  expect(outcome.notes.map(({ text }) => text).join("\n")).toContain("the hash of images/openbsd-min.qcow2 differs");
});
