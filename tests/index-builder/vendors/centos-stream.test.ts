import { expect, test } from "vitest";
import { centosStream } from "../../../index-builder/vendors/centos-stream.ts";
import { artifactLines, builtFrom, runRecorded } from "../recorded-vendor.ts";

const WIDE = ["wide/centos-stream", "t0"];

test("streams from 9 on are releases, and the newest has the alias latest", async () => {
  const { distro } = await builtFrom(centosStream);
  expect(distro.id).toBe("centos-stream");
  expect(distro.releases.map(({ id, version, title, aliases }) => [id, version, title, aliases])).toEqual([
    ["10", "10", "CentOS Stream 10", ["latest"]],
    ["9", "9", "CentOS Stream 9", []],
  ]);
});

test("the newest dated image is the build; a stream has no point releases and no signatures", async () => {
  const { builds } = await builtFrom(centosStream);
  const seen = ["10", "9"].map((release) => {
    const build = builds(release)[0]!;
    const { size, integrity } = build.artifacts[0]!;
    return [build.build, build.point_release, artifactLines(build), size, integrity!.signatures];
  });
  expect(seen).toEqual([
    ["20260930.0", null, ["genericcloud/x86_64/qcow2 sha256:42bd0c8f"], 1045889024, []],
    ["20260930.0", null, ["genericcloud/x86_64/qcow2 sha256:a7f80437"], 1275985920, []],
  ]);
});

test("build 20261006.10 is newer than 20261006.9; copies, EC2 images and other streams are skipped", async () => {
  const { builds } = await builtFrom(centosStream, WIDE);
  expect(builds("10").map(({ build }) => build)).toEqual(["20261006.10", "20260930.0"]);
});

test("all four architectures are published; one architecture has an older image, in a build of its own", async () => {
  const { builds } = await builtFrom(centosStream, WIDE);
  expect(builds("10").map(artifactLines)).toEqual([
    [
      "genericcloud/x86_64/qcow2 sha256:c4f388bc",
      "genericcloud/aarch64/qcow2 sha256:f2f004e0",
      "genericcloud/ppc64le/qcow2 sha256:3839ce3b",
    ],
    ["genericcloud/s390x/qcow2 sha256:c642ef48"],
  ]);
  expect(builds("9").map(artifactLines)).toEqual([["genericcloud/x86_64/qcow2 sha256:a7f80437"]]);
});

test("the vendor fails if a listing has only the undated image `latest`", async () => {
  const outcome = await runRecorded(centosStream, ["wide/centos-stream-pointer-only", "t0"]);
  expect(outcome).toMatchObject({ ok: false, error: expect.stringContaining("no dated GenericCloud image") });
});
