// Equal source gives an equal release, at any time and in any folder.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { arArchive } from "../../cli/release/ar.ts";
import { gzipped } from "../../cli/internal/gzip.ts";
import { closureOf, readLock } from "../../cli/release/lock.ts";
import { importedPackages } from "../../cli/release/node-modules.ts";
import { tarArchive } from "../../cli/internal/tar.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { releaseKeyIn, ROOT, smallRelease, TIME_S } from "./small-release.ts";

let folder: TemporaryFolder;
let names: readonly string[];
const read = (release: string, name: string) => readFile(join(folder.path, release, name));

beforeAll(async () => {
  folder = await temporaryFolder("reproducible");
  const key_path = await releaseKeyIn(folder.path);
  names = await smallRelease({ folder: join(folder.path, "first"), version: "1.2.3", tree: "whole", key_path });
  expect(await smallRelease({ folder: join(folder.path, "second"), version: "1.2.3", tree: "whole", key_path }))
    .toEqual(names);
}, 120_000);
afterAll(() => folder.remove());

test("S-42: two releases of one tree are equal in every byte, including the signatures and the channel", async () => {
  // The files are 6 packages; the checksums, their signature, the installer, the public key and the bill of materials;
  // 5 tarballs; channel.json, its signature and its installer.
  expect(names.length).toBe(6 + 5 + 5 + 3);
  const differing: string[] = [];
  for (const name of names) {
    if (!(await read("first", name)).equals(await read("second", name))) differing.push(name);
  }
  expect(differing).toEqual([]);
});

test("an archive has the same bytes for any order of the input files", () => {
  const entries = ["usr/b", "usr/a/c", "etc/x", "usr/a-b"].map((path) => ({
    path,
    mode: 0o644,
    bytes: new Uint8Array(3),
  }));
  expect(tarArchive(entries, TIME_S)).toEqual(tarArchive(entries.toReversed(), TIME_S));
});

test("gzip output contains no time, no name and no system", async () => {
  expect([...(await gzipped(new TextEncoder().encode("text"))).subarray(0, 10)])
    .toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, expect.any(Number), 255]);
});

describe("the writers of tar and ar archives refuse", () => {
  test("a path that is too long for ustar", () => {
    const path = `usr/${"x".repeat(101)}`;
    expect(() => tarArchive([{ path, mode: 0o644, bytes: new Uint8Array() }], TIME_S)).toThrow("too long");
  });

  test("a path that occurs twice", () => {
    const entry = { path: "usr/a", mode: 0o644, bytes: new Uint8Array() };
    expect(() => tarArchive([entry, entry], TIME_S)).toThrow("twice");
  });

  test("an ar member whose name has 17 characters", () => {
    const bytes = new Uint8Array();
    expect(() => arArchive([{ name: "a".repeat(16), bytes }], TIME_S)).not.toThrow();
    expect(() => arArchive([{ name: "a".repeat(17), bytes }], TIME_S)).toThrow("longer than 16");
  });
});

describe("the bill of materials", () => {
  type Bill = {
    specVersion: string;
    serialNumber: string;
    metadata: { timestamp: string };
    components: { name: string; version: string; scope: string; purl: string; hashes?: { content: string }[] }[];
    dependencies: { ref: string; dependsOn: string[] }[];
  };
  let bill: Bill;
  beforeAll(async () => void (bill = JSON.parse((await read("first", "berth_1.2.3.cdx.json")).toString("utf8"))));

  test("lists every package of the lock once, with a SHA-512 digest", async () => {
    const lock = await readLock(join(ROOT, "deno.lock"));
    const libraries = bill.components.filter(({ purl }) => purl.startsWith("pkg:npm/"));
    const wanted = new Set([...lock.values()].map(({ name, version }) => `${name}@${version}`));
    expect(libraries.map(({ name, version }) => `${name}@${version}`).sort()).toEqual([...wanted].sort());
    expect(libraries.every(({ hashes }) => /^[0-9a-f]{128}$/.test(hashes?.[0]?.content ?? ""))).toBe(true);
  });

  test("marks the packages that are shipped, and the packages that only builds and tests use", () => {
    const scope = (wanted: string) => bill.components.find(({ name }) => name === wanted)?.scope;
    expect([scope("zod"), scope("commander"), scope("pg"), scope("deno"), scope("bun")])
      .toEqual(["required", "required", "required", "required", "required"]);
    expect([scope("vitest"), scope("fast-check")]).toEqual(["excluded", "excluded"]);
  });

  test("lists every dependency as a component, and the dependencies of every component", () => {
    const known = new Set(bill.components.map(({ purl }) => purl));
    expect(bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((each) => !known.has(each))).toEqual([]);
    const listed = new Set(bill.dependencies.map(({ ref }) => ref));
    expect(bill.components.filter(({ purl }) => purl.startsWith("pkg:npm/") && !listed.has(purl))).toEqual([]);
  });

  test("has the release's time, and a version 8 UUID as its serial number", () => {
    expect(bill.specVersion).toBe("1.6");
    expect(bill.metadata.timestamp).toBe(new Date(TIME_S * 1_000).toISOString());
    expect(bill.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe("the packages of a release", () => {
  test("the closure of a package includes indirect dependencies, and no other package; an unknown name is refused", async () => {
    const lock = await readLock(join(ROOT, "deno.lock"));
    const names = closureOf(lock, ["pg"]).map(({ name }) => name);
    expect(names).toContain("pg");
    expect(names).toContain("postgres-bytea");
    expect(names).not.toContain("kysely");
    expect(() => closureOf(lock, ["no-such-package"])).toThrow("no-such-package");
  });

  test("the imports in a text are found in every form that the project uses", () => {
    const text = `import a from "hono/factory";\nimport "zod";\nexport type { B } from "@hono/zod-openapi";
      const c = await import("pg");\nimport { d } from "./local.ts";\nimport { e } from "node:fs";`;
    expect(importedPackages([text])).toEqual(["@hono/zod-openapi", "hono", "pg", "zod"]);
  });
});
