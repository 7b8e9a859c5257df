// Checks the files of each package, and their modes.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PACKAGES } from "../../cli/release/packages.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { type Deb, readDeb } from "./read-deb.ts";
import { releaseKeyIn, ROOT, smallRelease, TIME_S } from "./small-release.ts";

let folder: TemporaryFolder;
let debs: ReadonlyMap<string, Deb>;

beforeAll(async () => {
  folder = await temporaryFolder("packages");
  const out = join(folder.path, "release");
  await smallRelease({ folder: out, version: "1.2.3", tree: "whole", key_path: await releaseKeyIn(folder.path) });
  debs = new Map(
    await Promise.all(
      PACKAGES.map(async (name) => [name, readDeb(await readFile(join(out, `${name}_1.2.3_amd64.deb`)))] as const),
    ),
  );
}, 120_000);
afterAll(() => folder.remove());

/** Lists files with their modes. Of the control plane's tree, lists only the top folders. */
function listing({ data }: Deb): string[] {
  return [...data.values()].filter(({ isFolder, path }) =>
    !isFolder && !/^usr\/lib\/berth\/[^/]+\/(?!deno$|start$)/.test(path)
  )
    .map(({ path, mode }) => `${mode} ${path}`);
}

describe.each(PACKAGES)("%s", (name) => {
  test("has these files with these modes", () => {
    expect(listing(debs.get(name)!)).toMatchSnapshot();
  });

  test("has this control file and these maintainer scripts", () => {
    const { control } = debs.get(name)!;
    const texts = [...control.values()].filter(({ path, isFolder }) => !isFolder && path !== "md5sums")
      .map(({ path, mode, bytes }) => `== ${mode} ${path}\n${bytes.toString("utf8")}`);
    // The total size changes with every file.
    expect(texts.join("\n").replace(/^Installed-Size: [1-9]\d*$/m, "Installed-Size: N")).toMatchSnapshot();
  });

  test("has the three members of a binary package, in order", () => {
    expect(debs.get(name)!.members).toEqual(["debian-binary", "control.tar.gz", "data.tar.gz"]);
  });

  test("every file belongs to root, has the release's time, and only root may write it", () => {
    const { control, data } = debs.get(name)!;
    const odd = [...control.values(), ...data.values()]
      .filter(({ owner, time_s, mode }) =>
        owner !== "root:root" || time_s !== TIME_S || !/^[0-7][0145][0145]$/.test(mode)
      );
    expect(odd.map(({ path }) => path)).toEqual([]);
  });

  test("every file except settings has a digest, and settings are conffiles", () => {
    const { control, data } = debs.get(name)!;
    const sums = [...data.values()].filter(({ isFolder, path }) => !isFolder && !path.startsWith("etc/"))
      .map(({ path, bytes }) => `${createHash("md5").update(bytes).digest("hex")}  ${path}`);
    const settings = [...data.values()].filter(({ isFolder, path }) => !isFolder && path.startsWith("etc/"));
    expect(control.get("md5sums")!.bytes.toString("utf8").trim().split("\n")).toEqual(sums.sort());
    expect((control.get("conffiles")?.bytes.toString("utf8") ?? "").split("\n").filter((line) => line !== ""))
      .toEqual(settings.map(({ path }) => `/${path}`));
  });
});

describe("the copyright file of a package", () => {
  const copyrightOf = (name: string) =>
    debs.get(name)!.data.get(`usr/share/doc/${name}/copyright`)!.bytes.toString("utf8");

  test.each(PACKAGES)("%s: the project's licence comes first", async (name) => {
    expect(copyrightOf(name).startsWith(await readFile(join(ROOT, "LICENSE"), "utf8"))).toBe(true);
  });

  test("lists the software in an executable, with each licence", () => {
    const text = copyrightOf("tenantctl");
    expect(text).toMatch(/^bun 1\.0\.0 \(MIT/m);
    expect(text).toMatch(/^commander \S+ \(MIT\)$/m);
    expect(text).toMatch(/^openpgp \S+ \(LGPL-3\.0\+\)$/m);
    expect(text).toContain("GNU LESSER GENERAL PUBLIC LICENSE");
    expect(text).not.toMatch(/^kysely /m);
  });

  test("lists only npm packages that the control plane contains", () => {
    const { data } = debs.get("berth-control-plane")!;
    const manifests = [...data.keys()].flatMap((path) =>
      /node_modules\/((?:@[^/]+\/)?[^/]+)\/package\.json$/.exec(path)?.[1] ?? []
    );
    const named = [...copyrightOf("berth-control-plane").matchAll(/^-{72}\n(\S+) \S+ \(.+\)\n-{72}$/gm)];
    expect(named.length).toBeGreaterThan(20);
    for (const [, name] of named) expect(manifests).toContain(name);
  });
});

describe("the control plane", () => {
  const HOME = "usr/lib/berth";
  const paths = () => [...debs.get("berth-control-plane")!.data.keys()];

  test("contains source files and migrations of the project, and no test", () => {
    for (const path of ["deno.json", "src/serve.ts", "src/permissions.ts", "src/auth/password-worker.ts"]) {
      expect(paths()).toContain(`${HOME}/${path}`);
    }
    expect(paths()).toContain(`${HOME}/actors/engine/engine.ts`);
    expect(paths()).toContain(`${HOME}/migrations/0004_commit_units.sql`);
    expect(paths().filter((path) => path.includes(".test.ts") && !path.includes("/node_modules/"))).toEqual([]);
  });

  test("configures Deno to use its node_modules unchanged", () => {
    const { bytes } = debs.get("berth-control-plane")!.data.get(`${HOME}/deno.json`)!;
    expect(JSON.parse(bytes.toString("utf8"))).toEqual({ nodeModulesDir: "manual" });
  });

  test("contains exactly the recorded npm packages, in the versions that its package.json names", () => {
    const { data } = debs.get("berth-control-plane")!;
    const manifests = [...data.values()]
      .filter(({ path }) => /^usr\/lib\/berth\/node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(path))
      .map(({ bytes }) => JSON.parse(bytes.toString("utf8")) as { name: string; version: string });
    expect(manifests.map(({ name }) => name)).toMatchSnapshot();
    const { dependencies } = JSON.parse(data.get(`${HOME}/package.json`)!.bytes.toString("utf8"));
    for (const [name, version] of Object.entries(dependencies)) {
      expect(manifests.find((each) => each.name === name)?.version).toBe(version);
    }
  });
});
