import { expect, test } from "vitest";
import { smartos } from "../../../index-builder/vendors/smartos.ts";
import { artifactLines, builtFrom, runRecorded } from "../recorded-vendor.ts";

const POINTER = "https://us-central.manta.mnx.io/Joyent_Dev/public/SmartOS/latest";

test("the channel resolves to the release rolling, which has the alias latest", async () => {
  const { distro } = await builtFrom(smartos);
  expect(distro.releases.map(({ id, version, title, aliases }) => [id, version, title, aliases])).toEqual([
    ["rolling", "rolling", "SmartOS rolling", ["latest"]],
  ]);
  expect(distro.dev_channel).toBeNull();
});

test("the build is the platform image that the vendor's document names, with its USB image and without cloud-init", async () => {
  const { builds } = await builtFrom(smartos);
  expect(builds("rolling").map(({ build, point_release }) => [build, point_release])).toEqual([
    ["20260903T001557Z", null],
  ]);
  expect(artifactLines(builds("rolling")[0])).toEqual(["usb/x86_64/raw sha256:a068fd82"]);
  expect(builds("rolling")[0]!.artifacts[0]).toMatchObject({
    default_variant: true,
    compression: "gzip",
    datasources: [],
    ssh_key_injection: false,
    size: 224365028,
  });
});

test("in later recorded responses, a newer platform image whose name ends with a branch is the build", async () => {
  const { builds } = await builtFrom(smartos, ["wide/smartos-next", "t0"]);
  expect(builds("rolling").map(({ build }) => build)).toEqual(["20261015T031415Z_test_branch"]);
  expect(artifactLines(builds("rolling")[0])).toEqual(["usb/x86_64/raw sha256:04b96195"]);
});

test("a document that names anything but a platform image in this folder fails the vendor", async () => {
  for (const web of ["wide/smartos-html", "wide/smartos-elsewhere"]) {
    expect(await runRecorded(smartos, [web, "t0"])).toMatchObject({
      ok: false,
      error: `unreadable: ${POINTER}: does not name a platform`,
    });
  }
});

test("a list of hashes that cannot be read does not remove a known digest", async () => {
  const before = await builtFrom(smartos);
  const { builds, outcome } = await builtFrom(smartos, ["wide/smartos-unlisted", "t0"], {
    previous: before.outcome.tree,
  });
  expect(artifactLines(builds("rolling")[0])).toEqual(artifactLines(before.builds("rolling")[0]));
  expect(outcome.notes.map(({ text }) => text).join("\n")).toContain("the digest of the previous tree stays");
});
