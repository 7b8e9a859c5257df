// Creates an older version of this project: the newest commit with fewer migrations, so that the new version has to
// migrate. In a checkout without history, copies this tree with another version number.
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lacking, present } from "../support/optional-programs.ts";
import { ROOT } from "./run.ts";

const PARTS = ["src", "actors", "migrations", "package.json"];
const VERSION = "0.0.1";

/** Writes an older version into a new folder. */
export async function makeOlderTree(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const commit = commitBefore(migrationsIn(ROOT));
  if (commit === null) {
    console.warn("no commit with fewer migrations; the older version is a copy with another number");
    for (const name of PARTS) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  } else {
    const archive = git("archive", "--format=tar", commit, ...PARTS);
    execFileSync(present("tar"), ["-x", "-C", folder], { input: archive });
  }
  // The older version uses the packages of this tree.
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "deno.json"), JSON.stringify({ nodeModulesDir: "manual" }));
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ ...manifest, version: VERSION }));
}

/** Returns the names of the migrations, in order. */
export function migrationsIn(folder: string): readonly string[] {
  return readdirSync(join(folder, "migrations")).filter((name) => /^\d{4}_.*\.sql$/.test(name)).sort();
}

/** Returns the newest commit with fewer migrations, or null. */
function commitBefore(migrations: readonly string[]): string | null {
  if (lacking("git", "tar") !== null) return null;
  try {
    const changes = git("rev-list", "HEAD", "--", "migrations").toString("utf8").split("\n").filter((line) =>
      line !== ""
    );
    return ["HEAD", ...changes.map((commit) => `${commit}^`)].find((commit) => {
      const names = git("ls-tree", "--name-only", commit, "migrations/").toString("utf8").split("\n");
      return names.filter((name) => /\/\d{4}_.*\.sql$/.test(name)).length < migrations.length;
    }) ?? null;
  } catch {
    // This is not a repository, or it is a shallow clone.
    return null;
  }
}

function git(...argv: readonly string[]) {
  return execFileSync(present("git"), argv, { cwd: ROOT, maxBuffer: 2 ** 28, stdio: ["ignore", "pipe", "ignore"] });
}
