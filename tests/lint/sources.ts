// Reads the source files of the project and their imports.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export const CODE_FOLDERS = ["actors", "booter", "cli", "console", "index-builder", "nodeagent", "src"] as const;

export type Source = { readonly path: string; readonly text: string };

export type Import = {
  /** A path inside the project, or the name of a package as written. */
  readonly from: string;
  readonly isLocal: boolean;
  readonly isType: boolean;
  /** Imported names, as the other file exports them. */
  readonly names: readonly string[];
};

/** Lists the paths of the files in these folders and below, if the file's name ends with `end`. */
export function filesBelow(folders: readonly string[], end: string): string[] {
  return folders.filter((folder) => existsSync(join(ROOT, folder))).flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(end))
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
      .filter((path) => !path.split("/").includes("node_modules"))
  ).sort();
}

export function sources(folders: readonly string[]): Source[] {
  return [...filesBelow(folders, ".ts"), ...filesBelow(folders, ".tsx")].filter(isOwn).map((path) => ({
    path,
    text: readText(path),
  }));
}

/** Excludes the built console, because a build generates it. */
function isOwn(path: string): boolean {
  return !path.startsWith("console/dist/");
}

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** Returns the text without comments. Also drops a string's text after `//`, except after `://`; no rule needs it. */
export function code(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[^:])\/\/.*$/gm, "$1");
}

const STATEMENT = /^\s*(?:import|export)\s+(type\s+)?([^"'();]*?)\s*from\s+"([^"]+)"/gm;
const BARE = /^\s*import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gm;

export function importsOf({ path, text }: Source): Import[] {
  const bare = code(text);
  const found: Import[] = [];
  for (const [, type, clause = "", from = ""] of bare.matchAll(STATEMENT)) {
    const names = [...clause.matchAll(/(type\s+)?([\w$*]+)(?:\s+as\s+\w+)?/g)];
    const isType = type !== undefined ||
      (names.length > 0 && names.every(([, isTypeName]) => isTypeName !== undefined));
    found.push(
      describe(path, from, isType, names.filter(([, own]) => own === undefined).map(([, , name = ""]) => name)),
    );
  }
  for (const [, plain, dynamic] of bare.matchAll(BARE)) found.push(describe(path, plain ?? dynamic ?? "", false, []));
  return found;
}

function describe(path: string, from: string, isType: boolean, names: readonly string[]): Import {
  const isLocal = from.startsWith(".");
  return { from: isLocal ? join(dirname(path), from) : from, isLocal, isType, names };
}
