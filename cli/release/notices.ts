// Writes the copyright file of a package: the project's licence, then the licences of all included software.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { LockedPackage } from "./lock.ts";
import { folderOf, LICENCE } from "./node-modules.ts";

export type Inside = {
  /** The project's folder. */
  readonly root: string;
  readonly packages: readonly LockedPackage[];
  /** The runtime that runs the packages. */
  readonly runtime: { readonly name: string; readonly version: string };
};

/** Licences of the runtimes, with the addresses of their texts. */
const RUNTIME_TERMS: Readonly<Record<string, string>> = {
  bun: "MIT, with parts under other terms: https://bun.sh/docs/project/license",
  deno: "MIT: https://github.com/denoland/deno/blob/main/LICENSE.md",
};
const RULE = "-".repeat(72);

/** Returns the text of /usr/share/doc/PACKAGE/copyright. Throws an Error for included software without a licence. */
export async function copyrightText({ root, packages, runtime }: Inside): Promise<string> {
  const terms = RUNTIME_TERMS[runtime.name];
  if (terms === undefined) throw new Error(`the licence of ${runtime.name} is unknown: add it to RUNTIME_TERMS`);
  const own = await readFile(join(root, "LICENSE"), "utf8");
  const others = await Promise.all(packages.map((each) => termsOf(root, each)));
  const head = "This package contains other software under these licences:\n";
  return [own, head, `${runtime.name} ${runtime.version} (${terms})\n`, ...others].join(`\n`);
}

async function termsOf(root: string, locked: LockedPackage): Promise<string> {
  const folder = folderOf(root, locked);
  const { license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { readonly license?: string };
  const names = (await readdir(folder)).filter((name) => LICENCE.test(name)).sort();
  if (license === undefined) throw new Error(`${locked.name} names no licence in its package.json`);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  const title = `${RULE}\n${locked.name} ${locked.version} (${license})\n${RULE}\n`;
  return [title, ...texts.map((text) => `${text.replaceAll("\r\n", "\n").trim()}\n`)].join("\n");
}
