// What is in each package, and with which rights.
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

/** Files with their modes; of the control plane's own tree only the top. */
function listing({ data }: Deb): string[] {
  return [...data.values()].filter(({ isFolder, path }) =>
    !isFolder && !/^usr\/lib\/berth\/[^/]+\/(?!deno$|start$)/.test(path)
  )
    .map(({ path, mode }) => `${mode} ${path}`);
}

describe.each(PACKAGES)("%s", (name) => {
  test("holds these files with these rights", () => {
    expect(listing(debs.get(name)!)).toMatchSnapshot();
  });

  test("says this of itself, and runs this beside unpacking", () => {
    const { control } = debs.get(name)!;
    const texts = [...control.values()].filter(({ path, isFolder }) => !isFolder && path !== "md5sums")
      .map(({ path, mode, bytes }) => `== ${mode} ${path}\n${bytes.toString("utf8")}`);
    // The sum of all files changes with every file.
    expect(texts.join("\n").replace(/^Installed-Size: [1-9]\d*$/m, "Installed-Size: N")).toMatchSnapshot();
  });

  test("consists of the three members of a binary package, in their order", () => {
    expect(debs.get(name)!.members).toEqual(["debian-binary", "control.tar.gz", "data.tar.gz"]);
  });

  test("everything belongs to root, bears the release's time, and nobody else may write it", () => {
    const { control, data } = debs.get(name)!;
    const odd = [...control.values(), ...data.values()]
      .filter(({ owner, time_s, mode }) =>
        owner !== "root:root" || time_s !== TIME_S || !/^[0-7][0145][0145]$/.test(mode)
      );
    expect(odd.map(({ path }) => path)).toEqual([]);
  });

  test("every file but the settings has its digest, and every setting is kept at an upgrade", () => {
    const { control, data } = debs.get(name)!;
    const sums = [...data.values()].filter(({ isFolder, path }) => !isFolder && !path.startsWith("etc/"))
      .map(({ path, bytes }) => `${createHash("md5").update(bytes).digest("hex")}  ${path}`);
    const settings = [...data.values()].filter(({ isFolder, path }) => !isFolder && path.startsWith("etc/"));
    expect(control.get("md5sums")!.bytes.toString("utf8").trim().split("\n")).toEqual(sums.sort());
    expect((control.get("conffiles")?.bytes.toString("utf8") ?? "").split("\n").filter((line) => line !== ""))
      .toEqual(settings.map(({ path }) => `/${path}`));
  });
});

describe("what a package says about rights", () => {
  const copyrightOf = (name: string) =>
    debs.get(name)!.data.get(`usr/share/doc/${name}/copyright`)!.bytes.toString("utf8");

  test.each(PACKAGES)("%s: the project's own terms come first", async (name) => {
    expect(copyrightOf(name).startsWith(await readFile(join(ROOT, "LICENSE"), "utf8"))).toBe(true);
  });

  test("an executable names what is inside it, with the terms of each", () => {
    const text = copyrightOf("tenantctl");
    expect(text).toMatch(/^bun 1\.0\.0 \(MIT/m);
    expect(text).toMatch(/^commander \S+ \(MIT\)$/m);
    expect(text).toMatch(/^openpgp \S+ \(LGPL-3\.0\+\)$/m);
    expect(text).toContain("GNU LESSER GENERAL PUBLIC LICENSE");
    expect(text).not.toMatch(/^kysely /m);
  });

  test("the control plane names every package that it brings", () => {
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

  test("brings every source and migration of the project, and no test", () => {
    for (const path of ["deno.json", "src/serve.ts", "src/permissions.ts", "src/auth/password-worker.ts"]) {
      expect(paths()).toContain(`${HOME}/${path}`);
    }
    expect(paths()).toContain(`${HOME}/actors/engine/engine.ts`);
    expect(paths()).toContain(`${HOME}/migrations/0004_commit_units.sql`);
    expect(paths().filter((path) => path.includes(".test.ts") && !path.includes("/node_modules/"))).toEqual([]);
  });

  test("is configured so that Deno takes its packages as they are", () => {
    const { bytes } = debs.get("berth-control-plane")!.data.get(`${HOME}/deno.json`)!;
    expect(JSON.parse(bytes.toString("utf8"))).toEqual({ nodeModulesDir: "manual" });
  });

  test("brings the packages it imports and what those need, each in the version of the lock, and no other", () => {
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
