// The copyright file of a package: the project's license, then the licenses of included software.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { LockedPackage } from "./lock.ts";
import { folderOf, LICENCE } from "./node-modules.ts";

export type Inside = {
  /** The project's folder. */
  readonly root: string;
  readonly packages: readonly LockedPackage[];
  /** The runtime in the package. */
  readonly runtime: { readonly name: string; readonly version: string };
};

/** Licenses of the runtimes. */
const RUNTIME_TERMS: Readonly<Record<string, string>> = {
  bun: "MIT, with parts under other terms: https://bun.sh/docs/project/license",
  deno: "MIT: https://github.com/denoland/deno/blob/main/LICENSE.md",
};
const RULE = "-".repeat(72);

/** Returns the text of /usr/share/doc/PACKAGE/copyright. Throws an Error if a package has no license. */
export async function copyrightText({ root, packages, runtime }: Inside): Promise<string> {
  const terms = RUNTIME_TERMS[runtime.name];
  if (terms === undefined) throw new Error(`the license of ${runtime.name} is not listed in notices.ts`);
  const own = await readFile(join(root, "LICENSE"), "utf8");
  const others = await Promise.all(packages.map((each) => termsOf(root, each)));
  const head = "This package contains third-party software, each part under its own license:\n";
  return [own, head, `${runtime.name} ${runtime.version} (${terms})\n`, ...others].join(`\n`);
}

async function termsOf(root: string, locked: LockedPackage): Promise<string> {
  const folder = folderOf(root, locked);
  const { license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { readonly license?: string };
  const names = (await readdir(folder)).filter((name) => LICENCE.test(name)).sort();
  if (license === undefined) throw new Error(`${locked.name} has no license in its package.json`);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  const title = `${RULE}\n${locked.name} ${locked.version} (${license})\n${RULE}\n`;
  return [title, ...texts.map((text) => `${text.replaceAll("\r\n", "\n").trim()}\n`)].join("\n");
}
