// What a package says about rights: the project's terms, then those of everybody whose software is inside.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { LockedPackage } from "./lock.ts";
import { folderOf, LICENCE } from "./node-modules.ts";

export type Inside = {
  /** The project's folder. */
  readonly root: string;
  readonly packages: readonly LockedPackage[];
  /** The program that runs them. */
  readonly runtime: { readonly name: string; readonly version: string };
};

/** Where the makers of the programs publish their terms and those of what is in them. */
const RUNTIME_TERMS: Readonly<Record<string, string>> = {
  bun: "MIT, with parts under other terms: https://bun.sh/docs/project/license",
  deno: "MIT: https://github.com/denoland/deno/blob/main/LICENSE.md",
};
const RULE = "-".repeat(72);

/** The text of /usr/share/doc/PACKAGE/copyright. Throws an Error for a package that does not say under which terms it is. */
export async function copyrightText({ root, packages, runtime }: Inside): Promise<string> {
  const terms = RUNTIME_TERMS[runtime.name];
  if (terms === undefined) throw new Error(`nobody has written down the terms of ${runtime.name}`);
  const own = await readFile(join(root, "LICENSE"), "utf8");
  const others = await Promise.all(packages.map((each) => termsOf(root, each)));
  const head = "This package contains software of others, each under its own terms:\n";
  return [own, head, `${runtime.name} ${runtime.version} (${terms})\n`, ...others].join(`\n`);
}

async function termsOf(root: string, locked: LockedPackage): Promise<string> {
  const folder = folderOf(root, locked);
  const { license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { readonly license?: string };
  const names = (await readdir(folder)).filter((name) => LICENCE.test(name)).sort();
  if (license === undefined) throw new Error(`${locked.name} does not say under which terms it is`);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  const title = `${RULE}\n${locked.name} ${locked.version} (${license})\n${RULE}\n`;
  return [title, ...texts.map((text) => `${text.replaceAll("\r\n", "\n").trim()}\n`)].join("\n");
}
