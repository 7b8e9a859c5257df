// Creates an older version of this project: the newest commit with fewer migrations, so that this tree has migrations
// to apply. In a checkout without history, the older version is a copy of this tree with another version number.
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lacking, present } from "../support/optional-programs.ts";
import { ROOT } from "./run.ts";

const PARTS = ["src", "actors", "migrations", "package.json"];
/** The folders with the programs of nodes and the code that they import. The first release had the agent in `cli`. */
const AGENT_PARTS = ["cli", "nodeagent", "booter"];
/** The number of migrations of release 0.1.0. */
const MIGRATIONS_OF_0_1_0 = 35;
const VERSION = "0.0.1";
const MIGRATION = /^\d{4}_.*\.sql$/;

/** Writes an older version into a new folder. */
export async function makeOlderTree(folder: string): Promise<void> {
  const commit = previousCommit();
  if (commit !== null) return await writeTree(folder, commit, VERSION);
  await mkdir(folder, { recursive: true });
  console.warn("no commit with fewer migrations; the older version is a copy with another number");
  for (const name of PARTS) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  await completeTree(folder, VERSION);
}

/** Returns the newest commit with fewer migrations than this tree, or null without git, tar or the history. */
export function previousCommit(): string | null {
  return newestCommit((count, all) => count < all);
}

/** Returns the newest commit with the migrations of release 0.1.0, or null without git, tar or the history. */
export function commitOf010(): string | null {
  return newestCommit((count) => count === MIGRATIONS_OF_0_1_0);
}

/** Writes the server and the agent of a commit into a new folder. */
export async function writeTree(folder: string, commit: string, version: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const there = git("ls-tree", "--name-only", commit).toString("utf8").split("\n");
  const parts = [...PARTS, ...AGENT_PARTS].filter((name) => there.includes(name));
  const archive = git("archive", "--format=tar", commit, ...parts);
  execFileSync(present("tar"), ["-x", "-C", folder], { input: archive });
  await completeTree(folder, version);
}

async function completeTree(folder: string, version: string): Promise<void> {
  // The older version uses the packages of this tree.
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "deno.json"), JSON.stringify({ nodeModulesDir: "manual" }));
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ ...manifest, version }));
}

/** Returns the names of the migrations in their order. */
export function migrationsIn(folder: string): readonly string[] {
  return readdirSync(join(folder, "migrations")).filter((name) => MIGRATION.test(name)).sort();
}

/**
 * Returns the newest commit with a suitable number of migrations, or null. Skips commits whose migrations are not the
 * first migrations of this tree, because a branch had other numbers before its merge.
 */
function newestCommit(suits: (count: number, all: number) => boolean): string | null {
  if (lacking("git", "tar") !== null) return null;
  const all = migrationsIn(ROOT);
  try {
    const changes = git("rev-list", "HEAD", "--", "migrations").toString("utf8").split("\n").filter((line) =>
      line !== ""
    );
    return ["HEAD", ...changes.map((commit) => `${commit}^`)].find((commit) => {
      const names = git("ls-tree", "--name-only", commit, "migrations/").toString("utf8").split("\n")
        .map((path) => path.replace("migrations/", "")).filter((name) => MIGRATION.test(name)).sort();
      return suits(names.length, all.length) && names.every((name, index) => name === all[index]);
    }) ?? null;
  } catch {
    // This is not a repository, or it is a shallow clone.
    return null;
  }
}

function git(...argv: readonly string[]) {
  return execFileSync(present("git"), argv, { cwd: ROOT, maxBuffer: 2 ** 28, stdio: ["ignore", "pipe", "ignore"] });
}
