import { expect, test } from "vitest";
import { omnios } from "../../../index-builder/vendors/omnios.ts";
import { artifactLines, builtFrom, runRecorded } from "../recorded-vendor.ts";

test("every channel's release is named after its newest image, and bloody is newer than the releases", async () => {
  const { distro } = await builtFrom(omnios);
  expect(distro.releases.map(({ id, version, title, aliases }) => [id, version, title, aliases])).toEqual([
    ["20260907", "20260907", "OmniOS 20260907", ["dev"]],
    ["r151058", "r151058", "OmniOS r151058", ["latest"]],
    ["r151054r", "r151054r", "OmniOS r151054r", ["lts"]],
  ]);
  expect(distro.dev_channel).toBe("bloody");
});

test("an update (r151054r) is newer than its release, and each build has the hash from the image's checksum file", async () => {
  const { builds } = await builtFrom(omnios);
  const lines = ["r151058", "r151054r", "20260907"].map((id) =>
    builds(id).map((build) => [build.build, build.point_release, ...artifactLines(build)])
  );
  expect(lines).toEqual([
    [["r151058", null, "cloud/x86_64/vmdk sha256:33950fb1"]],
    [["r151054r", null, "cloud/x86_64/vmdk sha256:77cda3ac"]],
    [["20260907", null, "cloud/x86_64/vmdk sha256:e6db87db"]],
  ]);
  expect(builds("r151058")[0]!.artifacts[0]!.integrity!.digests[0]!.source).toEqual({
    url: "https://downloads.omnios.org/media/stable/omnios-r151058.cloud.vmdk.sha256",
    format: "bare",
    filename: null,
  });
});

test("the other formats of the same release are published", async () => {
  const { builds } = await builtFrom(omnios, ["wide/omnios", "t0"]);
  expect(builds("r151058")[0]!.artifacts.map(({ format, compression }) => [format, compression])).toEqual([
    ["vmdk", "none"],
    ["qcow2", "none"],
    ["raw", "zstd"],
  ]);
});

test("two channels with the same release give one release with both aliases; names are ordered by number", async () => {
  const { distro } = await builtFrom(omnios, ["wide/omnios-next", "t0"]);
  expect(distro.releases.map(({ id, aliases }) => [id, aliases])).toEqual([
    ["20280110", ["dev"]],
    ["r151066", ["latest", "lts"]],
  ]);
});

test("a missing channel is left out, and no other release gets its alias", async () => {
  const { distro } = await builtFrom(omnios, ["wide/omnios-without-lts", "t0"]);
  expect(distro.releases.map(({ id, aliases }) => [id, aliases])).toEqual([
    ["20260907", ["dev"]],
    ["r151058", ["latest"]],
  ]);
});

test("a channel's page without a cloud image fails the vendor", async () => {
  expect(await runRecorded(omnios, ["wide/omnios-html", "t0"])).toMatchObject({
    ok: false,
    error: "unreadable: https://downloads.omnios.org/media/stable/: no cloud image",
  });
});
