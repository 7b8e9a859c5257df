import { expect, test } from "vitest";
import { oracle } from "../../../index-builder/vendors/oracle.ts";
import { artifactLines, builtFrom, runRecorded } from "../recorded-vendor.ts";

const WIDE = ["wide/oracle", "t0"];

test("every supported major version is a release, titled after its newest update", async () => {
  const { distro } = await builtFrom(oracle);
  expect(distro.releases.map(({ id, version, title, aliases }) => [id, version, title, aliases])).toEqual([
    ["10", "10.1-b291", "Oracle Linux 10.1", ["latest"]],
    ["9", "9.8-b293", "Oracle Linux 9.8", []],
    ["8", "8.10-b287", "Oracle Linux 8.10", []],
  ]);
});

test("the hash in the KVM image's own row is published, not a hash of another row", async () => {
  const { builds } = await builtFrom(oracle);
  const seen = ["10", "9", "8"].map((release) => {
    const build = builds(release)[0]!;
    return [build.build, build.point_release, artifactLines(build)];
  });
  expect(seen).toEqual([
    ["10.1-b291", "10.1", ["kvm/x86_64/qcow2 sha256:8e59326c"]],
    ["9.8-b293", "9.8", ["kvm/x86_64/qcow2 sha256:b1210339"]],
    ["8.10-b287", "8.10", ["kvm/x86_64/qcow2 sha256:cf9eb243"]],
  ]);
  expect(builds("9")[0]!.artifacts[0]!.integrity).toMatchObject({
    digests: [{
      source: { url: "https://yum.oracle.com/oracle-linux-templates.html", format: "vendor_document", filename: null },
    }],
    signatures: [],
  });
});

test("in later recorded responses, update 9.10 is newer than 9.9, build 100 is newer than build 99, and a row without its hash is skipped", async () => {
  const { builds } = await builtFrom(oracle, WIDE);
  expect(builds("9").map((build) => [build.build, build.point_release, ...artifactLines(build)])).toEqual([
    ["9.10-b100", "9.10", "kvm/x86_64/qcow2 sha256:9b007ef7"],
    ["9.10-aarch64-b310", "9.10", "kvm/aarch64/qcow2 sha256:587d9971"],
  ]);
});

test("aarch64 has its own build numbers and its own build, even if x86_64 has a newer update", async () => {
  const { builds } = await builtFrom(oracle, WIDE);
  expect(builds("8").map(({ build, point_release }) => [build, point_release])).toEqual([
    ["8.10-b287", "8.10"],
    ["8.9-aarch64-b150", "8.9"],
  ]);
});

test("an aarch64 image of a newer update is left out until x86_64 has that update", async () => {
  const { builds, outcome } = await builtFrom(oracle, WIDE);
  expect(builds("10").map(({ build }) => build)).toEqual(["10.1-b300"]);
  expect(outcome.notes.map(({ text }) => text).join("\n")).toContain("kvm aarch64 10.2-aarch64-b200: left out until");
});

test("a page without templates fails the vendor", async () => {
  const outcome = await runRecorded(oracle, ["wide/oracle-html", "t0"]);
  expect(outcome).toMatchObject({ ok: false, error: expect.stringContaining("no KVM template") });
});
