// Builds every vendor from recorded responses into one site.
import { cp, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fakeEnvironment } from "../cli/fake-environment.ts";
import { runIndexBuilder } from "../../index-builder/program.ts";
import { loadTree, readFiles } from "../../index-builder/tree/load.ts";
import type { Files, Tree } from "../../index-builder/tree/tree.ts";
import { VENDORS } from "../../index-builder/vendors/all.ts";
import { webFolder } from "./recorded-vendor.ts";

let folder: string, files: Files, tree: Tree;
const run = (argv: readonly string[]) => runIndexBuilder(argv, fakeEnvironment().environment);
const site = () => join(folder, "site");
const all = (date: string, ...more: string[]) =>
  run([
    "all",
    "--site",
    site(),
    "--recorded",
    webFolder("t0"),
    "--at",
    `${date}T05:17:00Z`,
    ...more,
  ]);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "index-whole-"));
  expect(await all("2026-10-09")).toBe(0);
  files = await readFiles(await realpath(site()));
  tree = loadTree(files);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the site has all fifteen vendors, in the fixed order", () => {
  const order = [
    "ubuntu",
    "debian",
    "rocky",
    "alma",
    "centos-stream",
    "fedora",
    "oracle",
    "opensuse",
    "alpine",
    "arch",
    "freebsd",
    "openbsd",
    "omnios",
    "smartos",
    "talos",
  ];
  expect(VENDORS.map(({ id }) => id)).toEqual(order);
  expect(tree.distros.map(({ distro }) => distro.id)).toEqual(order);
});

test("the tree passes every check", async () => {
  expect(await run(["verify", site()])).toBe(0);
});

test("releases, aliases, builds and digests match the vendors' documents", () => {
  const lines = tree.distros.flatMap(({ distro, current, archived }) => [
    `${distro.id}: ${distro.name}, ${distro.os_family}, dev_channel ${distro.dev_channel}`,
    ...distro.releases.flatMap((release) => [
      `  ${release.id}: ${release.title} (${release.version}) [${release.aliases.join(" ")}] until ${
        release.eol_date ?? "-"
      }, osinfo ${release.osinfo?.short_id ?? "-"}`,
      ...(current.get(release.id) ?? []).flatMap((build) => [
        `    ${build.build}, point release ${build.point_release ?? "-"}, published ${build.published_at ?? "-"}`,
        ...build.artifacts.map((artifact) => {
          const digest = artifact.integrity?.digests[0];
          const shown = digest === undefined
            ? "no digest"
            : `${digest.algorithm} ${digest.value.slice(0, 12)} ${digest.source?.format}`;
          const signatures = artifact.integrity?.signatures.map(({ kind }) => kind).join() ?? "";
          const away = artifact.locations[0]!.redirects_off_host ? ", off host" : "";
          return `      ${artifact.variant} ${artifact.arch} ${artifact.format}/${artifact.compression} ${artifact.size} ${shown} ${signatures}${away}`;
        }),
      ]),
      ...(archived.get(release.id) ?? []).map(({ build }) => `    archived ${build}`),
    ]),
  ]);
  expect(lines.join("\n")).toMatchSnapshot();
});

test("a second run, a day later, changes no byte", async () => {
  expect(await all("2026-10-10")).toBe(0);
  expect(await readFiles(await realpath(site()))).toEqual(files);
});

test("fragments of all vendors assemble into the same site", async () => {
  const [empty, made] = [join(folder, "empty"), join(folder, "assembled")];
  const fragments: string[] = [];
  for (const { id } of VENDORS) {
    const out = join(folder, "fragments", id);
    expect(
      await run([
        "vendor",
        id,
        "--previous",
        empty,
        "--out",
        out,
        "--recorded",
        webFolder("t0"),
        "--at",
        "2026-10-09T05:17:00Z",
      ]),
    ).toBe(0);
    fragments.push(out);
  }
  expect(await run(["assemble", "--site", made, ...fragments.reverse()])).toBe(0);
  expect(await readFiles(await realpath(made))).toEqual(files);
});

test("a tree copied to a plain folder is the same tree", async () => {
  const plain = join(folder, "plain");
  await cp(await realpath(site()), plain, { recursive: true });
  expect(await run(["verify", plain])).toBe(0);
});
