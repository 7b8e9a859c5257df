import { expect, test } from "vitest";
import { ubuntu } from "../../../index-builder/vendors/ubuntu.ts";
import { recordedExchange } from "../../../index-builder/web/recorded.ts";
import { artifactLines, builtFrom, runRecorded, webFolder } from "../recorded-vendor.ts";

test("the supported releases are published newest first, and the newest LTS release has the alias lts", async () => {
  const { distro } = await builtFrom(ubuntu);
  expect(distro.releases.map(({ id, version, title, aliases, eol_date }) => [id, version, title, aliases, eol_date]))
    .toEqual([
      ["resolute", "26.04", "26.04 LTS", ["latest", "lts"], "2031-05-29"],
      ["noble", "24.04", "24.04 LTS", [], "2029-05-31"],
      ["jammy", "22.04", "22.04 LTS", [], "2027-06-01"],
    ]);
  expect(distro.dev_channel).toBeNull();
});

test("the newest serial by natural order is the build, with the digest of its SHA256SUMS", async () => {
  const { builds } = await builtFrom(ubuntu);
  expect(builds("resolute").map(({ build }) => build)).toEqual(["20260927"]);
  expect(artifactLines(builds("resolute")[0])).toEqual(["server/x86_64/qcow2 sha256:88006518"]);
});

test("other architectures and the minimal variant are published", async () => {
  const { builds } = await builtFrom(ubuntu, ["wide/ubuntu", "t0"]);
  expect(artifactLines(builds("noble")[0])).toEqual([
    "server/x86_64/qcow2 sha256:6a81c375",
    "server/aarch64/qcow2 sha256:be7c66a0",
    "minimal/x86_64/qcow2 sha256:ac559e30",
  ]);
  // An image with an older serial than the default image is in a build of its own. A newer image is left out.
  expect(builds("noble").map(({ build }) => build)).toEqual(["20260926", "20260920"]);
  expect(artifactLines(builds("noble")[1])).toEqual(["minimal/aarch64/qcow2 sha256:e130b081"]);
  expect(builds("noble")[0]!.artifacts.map(({ default_variant }) => default_variant)).toEqual([true, true, false]);
});

test("an image whose hash in the feed differs from SHA256SUMS is left out, and the default image stays", async () => {
  // The recorded folder of resolute lists another hash for arm64 than the feed does.
  const { builds, outcome } = await builtFrom(ubuntu, ["wide/ubuntu", "t0"]);
  expect(artifactLines(builds("resolute")[0])).toEqual(["server/x86_64/qcow2 sha256:88006518"]);
  expect(outcome.notes.map(({ text }) => text).join("\n")).toContain(
    "the hash of ubuntu-26.04-server-cloudimg-arm64.img differs",
  );
});

test("a release whose support_eol has passed is left out although the feed still marks it as supported", async () => {
  const now = new Date("2027-06-02T00:00:00Z");
  const { distro } = await builtFrom(ubuntu, ["t0"], { now });
  expect(distro.releases.map(({ id }) => id)).not.toContain("jammy");
});

test("a run requests no URL twice", async () => {
  const asked: string[] = [];
  const web = await recordedExchange([webFolder("t0")]);
  await runRecorded(ubuntu, ["t0"], {
    exchange: (request) => {
      asked.push(`${request.method} ${request.url}`);
      return web(request);
    },
  });
  expect(asked.length).toBeGreaterThan(5);
  expect(asked.length).toBe(new Set(asked).size);
});
