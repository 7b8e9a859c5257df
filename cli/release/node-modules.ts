// Builds one flat node_modules with the packages that the control plane imports. The packages come from the project's
// frozen installation, which checked every archive against deno.lock.
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { LockedPackage } from "./lock.ts";
import type { Entry } from "../internal/tar.ts";

const SPECIFIER = /\bfrom "([^".][^"]*)"|\bimport "([^".][^"]*)"|\bimport\("([^".][^"]*)"\)/g;
/** Files that never run: types, source maps and documentation. */
const NOT_RUN = /\.(?:[cm]?ts|map|md)$/i;
/** Names of files with a package's licence. */
export const LICENCE = /^(?:licen[cs]e|notice|copying)/i;
const FILE_MODE = 0o644;

/** Returns the names of the packages that source texts import, sorted. */
export function importedPackages(texts: readonly string[]): readonly string[] {
  const specifiers = texts.flatMap((text) => [...text.matchAll(SPECIFIER)].map(([, a, b, c]) => a ?? b ?? c ?? ""));
  const names = specifiers.filter((each) => !each.startsWith("node:"))
    .map((each) => each.split("/").slice(0, each.startsWith("@") ? 2 : 1).join("/"));
  return [...new Set(names)].sort();
}

/**
 * Returns the packages' runnable files and licences, with paths below `target`. Throws an Error for two versions of one
 * package, and if the installed version differs from deno.lock.
 */
export async function nodeModules(
  root: string,
  packages: readonly LockedPackage[],
  target: string,
): Promise<Entry[]> {
  const twice = packages.find(({ name }, index) => packages.findIndex((each) => each.name === name) !== index);
  if (twice !== undefined) {
    throw new Error(`two versions of ${twice.name} are needed, but node_modules can hold only one`);
  }
  return (await Promise.all(packages.map((each) => filesOf(root, each, target)))).flat();
}

/** Returns the folder of an installed package. */
export function folderOf(root: string, { name, version }: LockedPackage): string {
  return join(root, "node_modules/.deno", `${name.replace("/", "+")}@${version}`, "node_modules", name);
}

async function filesOf(root: string, locked: LockedPackage, target: string): Promise<Entry[]> {
  const { name, version } = locked;
  const folder = folderOf(root, locked);
  const found = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { readonly version: string };
  if (found.version !== version) throw new Error(`${folder} is version ${found.version}: run deno install --frozen`);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return await Promise.all(
    entries.filter((each) => each.isFile() && !(NOT_RUN.test(each.name) && !LICENCE.test(each.name))).map(
      async (each) => {
        const path = join(each.parentPath, each.name);
        return { path: `${target}/${name}/${relative(folder, path)}`, bytes: await readFile(path), mode: FILE_MODE };
      },
    ),
  );
}
