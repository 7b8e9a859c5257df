// Collects the files of the control plane: its source, the built web console, and the npm packages that the source
// imports. The Debian package of the control plane also contains a Deno executable.
import { Buffer } from "node:buffer";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { closureOf, type Lock } from "./lock.ts";
import { importedPackages, nodeModules } from "./node-modules.ts";
import type { Entry } from "../internal/tar.ts";

export const HOME = "usr/lib/berth";

const FOLDERS = [["src", ".ts"], ["actors", ".ts"], ["migrations", ".sql"]] as const;
/** The built web console, which `task console:build` writes. `task release` runs that task first. */
const WEB_CONSOLE = "console/dist";
/** The code of `task rack`, which builds releases and runs only from a checkout. */
const LEFT_OUT = "src/dev/rack/";
const FILE_MODE = 0o644;

export type ControlPlane = {
  readonly files: readonly Entry[];
  /** Names of the directly imported packages. */
  readonly imported: readonly string[];
};

/** Throws an Error if the web console was not built: the package must have it. */
export function requireWebConsole(root: string): void {
  if (existsSync(join(root, WEB_CONSOLE, "index.html"))) return;
  throw new Error(`${WEB_CONSOLE} is missing: build the web console with \`deno task console:build\``);
}

/** Returns all files except the Deno executable, which depends on the architecture. */
export async function controlPlaneFiles(root: string, lock: Lock): Promise<ControlPlane> {
  const sources = (await Promise.all(FOLDERS.map(([folder, end]) => sourcesBelow(root, folder, end)))).flat();
  const webConsole = existsSync(join(root, WEB_CONSOLE)) ? await sourcesBelow(root, WEB_CONSOLE, "") : [];
  const imported = importedPackages(
    sources.filter(({ path }) => path.endsWith(".ts")).map(({ bytes }) => Buffer.from(bytes).toString("utf8")),
  );
  const packages = closureOf(lock, imported);
  const { name, version, type } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const versions = packages.filter((each) => imported.includes(each.name)).map((each) => [each.name, each.version]);
  return {
    imported,
    files: [
      ...sources,
      ...webConsole,
      json("package.json", { name, version, type, dependencies: Object.fromEntries(versions) }),
      // Deno must use the package's node_modules without changes.
      json("deno.json", { nodeModulesDir: "manual" }),
      ...await nodeModules(root, packages, `${HOME}/node_modules`),
    ],
  };
}

async function sourcesBelow(root: string, folder: string, end: string): Promise<Entry[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return await Promise.all(
    entries.filter((each) => each.isFile() && each.name.endsWith(end))
      .map((each) => relative(root, join(each.parentPath, each.name)))
      .filter((path) => !path.startsWith(LEFT_OUT))
      .map(async (path) => ({ path: `${HOME}/${path}`, bytes: await readFile(path), mode: FILE_MODE })),
  );
}

function json(name: string, value: unknown): Entry {
  return { path: `${HOME}/${name}`, bytes: Buffer.from(`${JSON.stringify(value, null, 2)}\n`), mode: FILE_MODE };
}
