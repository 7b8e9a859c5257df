import { expect, test } from "vitest";
import { arch } from "../../../index-builder/vendors/arch.ts";
import { artifactLines, builtFrom, runRecorded } from "../recorded-vendor.ts";

const IMAGE =
  "https://geo.mirror.pkgbuild.com/images/v20261001.604814/Arch-Linux-x86_64-cloudimg-20261001.604814.qcow2";

test("the channel resolves to the release rolling, which has the alias latest", async () => {
  const { distro } = await builtFrom(arch);
  expect(distro.releases.map(({ id, version, title, aliases }) => [id, version, title, aliases])).toEqual([
    ["rolling", "rolling", "Arch Linux rolling", ["latest"]],
  ]);
  expect(distro.dev_channel).toBeNull();
});

test("the newest dated folder is the build, with the hash from the file beside the image", async () => {
  const { builds } = await builtFrom(arch);
  expect(builds("rolling").map(({ build, point_release }) => [build, point_release])).toEqual([
    ["20261001.604814", null],
  ]);
  expect(artifactLines(builds("rolling")[0])).toEqual(["cloudimg/x86_64/qcow2 sha256:360f0fa4"]);
  expect(builds("rolling")[0]!.artifacts[0]).toMatchObject({
    size: 578080256,
    datasources: ["nocloud"],
    ssh_key_injection: true,
    integrity: { signatures: [] },
  });
});

test("folders are ordered by number, and the folder `latest`, which is a copy, is not a build", async () => {
  const { builds } = await builtFrom(arch, ["wide/arch-next", "t0"]);
  expect(builds("rolling").map(({ build }) => build)).toEqual(["20261015.610001"]);
  expect(artifactLines(builds("rolling")[0])).toEqual(["cloudimg/x86_64/qcow2 sha256:f6f038f8"]);
});

test("the signatures that exist over the hash and over the image are published", async () => {
  const { builds } = await builtFrom(arch, ["wide/arch", "t0"]);
  const signatures = builds("rolling")[0]!.artifacts[0]!.integrity!.signatures;
  expect(signatures.map(({ url, signs }) => [url, signs])).toEqual([
    [`${IMAGE}.SHA256.sig`, `${IMAGE}.SHA256`],
    [`${IMAGE}.sig`, IMAGE],
  ]);
  expect(new Set(signatures.map(({ kind, key_url }) => `${kind} ${key_url}`))).toEqual(
    new Set(["pgp_detached https://gitlab.archlinux.org/archlinux/arch-boxes/-/raw/master/README.md"]),
  );
});

test("a page without a dated build fails the vendor", async () => {
  for (const web of ["wide/arch-html", "wide/arch-pointer-only"]) {
    expect(await runRecorded(arch, [web, "t0"])).toMatchObject({
      ok: false,
      error: "unreadable: https://geo.mirror.pkgbuild.com/images/: no dated build",
    });
  }
});
