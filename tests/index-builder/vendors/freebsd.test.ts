import { expect, test } from "vitest";
import { freebsd } from "../../../index-builder/vendors/freebsd.ts";
import type { Build } from "../../../index-builder/tree/model.ts";
import { recordedExchange } from "../../../index-builder/web/recorded.ts";
import { artifactLines, builtFrom, runRecorded, webFolder } from "../recorded-vendor.ts";

const WIDE = ["wide/freebsd", "t0"];

function names(builds: readonly Build[]) {
  return builds.map(({ build, point_release }) => [build, point_release]);
}

test("the releases are the major versions, and the newest has the alias latest", async () => {
  const { distro } = await builtFrom(freebsd);
  expect(distro.releases.map(({ id, version, title, aliases }) => [id, version, title, aliases])).toEqual([
    ["15", "15", "FreeBSD 15", ["latest"]],
    ["14", "14", "FreeBSD 14", []],
  ]);
  expect(distro.dev_channel).toBeNull();
});

test("the point releases that have not ended are the current builds, newest first", async () => {
  const { builds } = await builtFrom(freebsd);
  // 15.0 has ended, but is still in the main folder. endoflife.date does not know 14.5, so 14.5 counts as supported.
  expect(names(builds("15"))).toEqual([["15.1", "15.1"]]);
  expect(names(builds("14"))).toEqual([["14.5", "14.5"], ["14.4", "14.4"]]);
  expect([...builds("15"), ...builds("14")].map((build) => artifactLines(build)[0])).toEqual([
    "basic-cloudinit-zfs/x86_64/raw sha256:93011721",
    "basic-cloudinit-zfs/x86_64/raw sha256:fc22b709",
    "basic-cloudinit-zfs/x86_64/raw sha256:fa8bfb30",
  ]);
});

test("images of both file systems, formats and architectures are published; other images are not", async () => {
  const { builds } = await builtFrom(freebsd, WIDE);
  const lines = artifactLines(builds("15")[0]);
  expect(lines.map((line) => line.split(" ")[0])).toEqual([
    "basic-cloudinit-zfs/x86_64/raw",
    "basic-cloudinit-zfs/aarch64/raw",
    "basic-cloudinit-zfs/x86_64/qcow2",
    "basic-cloudinit-zfs/aarch64/qcow2",
    "basic-cloudinit-ufs/x86_64/raw",
    "basic-cloudinit-ufs/aarch64/raw",
    "basic-cloudinit-ufs/x86_64/qcow2",
    "basic-cloudinit-ufs/aarch64/qcow2",
  ]);
  expect(builds("15")[0]!.artifacts.map(({ default_variant }) => default_variant)).toEqual(
    [true, true, true, true, false, false, false, false],
  );
  expect(new Set(builds("15")[0]!.artifacts.map(({ compression }) => compression))).toEqual(new Set(["xz"]));
  // The vendor has no aarch64 folder for this point release.
  expect(artifactLines(builds("14")[1]).map((line) => line.split(" ")[0])).toEqual(["basic-cloudinit-zfs/x86_64/raw"]);
});

test("ended point releases with cloud-init come from the vault, over https", async () => {
  const { archived } = await builtFrom(freebsd, WIDE);
  expect(names(archived.get("15")!)).toEqual([["15.0", "15.0"]]);
  expect(artifactLines(archived.get("15")![0]).map((line) => line.split(" ")[0])).toEqual([
    "basic-cloudinit-zfs/x86_64/raw",
    "basic-cloudinit-zfs/aarch64/raw",
    "basic-cloudinit-zfs/x86_64/qcow2",
    "basic-cloudinit-ufs/x86_64/raw",
    "basic-cloudinit-ufs/x86_64/qcow2",
  ]);
  // Kept: 14.2, although its file names have a dot before the file system (".zfs"). Left out: 14.0, which has no
  // cloud-init image, and 14.4, which is in the vault but has not ended.
  expect(names(archived.get("14")!)).toEqual([["14.3", "14.3"], ["14.2", "14.2"]]);
  expect(archived.get("14")!.flatMap(({ artifacts }) => artifacts.flatMap(({ locations }) => locations))).toEqual(
    [["14.3", "-zfs"], ["14.2", ".zfs"]].map(([point, end]) => ({
      url: `https://archive.freebsd.org/old-releases/VM-IMAGES/${point}-RELEASE/amd64/Latest/` +
        `FreeBSD-${point}-RELEASE-amd64-BASIC-CLOUDINIT${end}.raw.xz`,
      kind: "vault",
      redirects_off_host: false,
    })),
  );
});

test("an archived build is kept and not requested again; a point release without a build (14.0) is requested again", async () => {
  const first = await builtFrom(freebsd, WIDE);
  const asked: string[] = [];
  const web = await recordedExchange(WIDE.map(webFolder));
  const second = await builtFrom(freebsd, WIDE, {
    previous: first.outcome.tree,
    exchange: (request) => {
      asked.push(request.url);
      return web(request);
    },
  });
  expect(second.archived).toEqual(first.archived);
  expect(asked.filter((url) => /old-releases\/VM-IMAGES\/1[45]\.[023]-RELEASE/.test(url)).sort()).toEqual([
    "https://archive.freebsd.org/old-releases/VM-IMAGES/14.0-RELEASE/aarch64/Latest/CHECKSUM.SHA256",
    "https://archive.freebsd.org/old-releases/VM-IMAGES/14.0-RELEASE/amd64/Latest/CHECKSUM.SHA256",
  ]);
});

test("point releases are ordered by number; ended majors, candidates and folders without images are left out", async () => {
  const { distro, builds, outcome } = await builtFrom(freebsd, ["wide/freebsd-next", "t0"]);
  expect(distro.releases.map(({ id }) => id)).toEqual(["15", "14"]);
  expect(names(builds("14"))).toEqual([["14.10", "14.10"], ["14.9", "14.9"]]);
  expect(names(builds("15"))).toEqual([["15.1", "15.1"]]);
  expect(outcome.notes.map(({ text }) => text)).toContain("FreeBSD 15.2: left out: no list of images yet");
});

test("a page without point releases, or a list without cloud-init images, fails the vendor", async () => {
  expect(await runRecorded(freebsd, ["wide/freebsd-html", "t0"])).toMatchObject({
    ok: false,
    error: "unreadable: https://download.freebsd.org/releases/VM-IMAGES/: it lists no point release",
  });
  expect(await runRecorded(freebsd, ["wide/freebsd-renamed", "t0"])).toMatchObject({
    ok: false,
    error: "unreadable: https://download.freebsd.org/releases/VM-IMAGES/15.1-RELEASE/: no cloud-init image on ZFS",
  });
});
