// An older version of this project. Out of its own history where the checkout has one: the newest tree whose migrations are
// fewer than today's, so that the new version has something to bring forward. Elsewhere a copy of this tree, which differs
// by its number alone.
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lacking, present } from "../support/optional-programs.ts";
import { ROOT } from "./run.ts";

const PARTS = ["src", "actors", "migrations", "package.json"];
const VERSION = "0.0.1";

/** Makes the folder. */
export async function makeOlderTree(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const commit = commitBefore(migrationsIn(ROOT));
  if (commit === null) {
    console.warn("no history with fewer migrations; the older version is this one with another number");
    for (const name of PARTS) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  } else {
    const archive = git("archive", "--format=tar", commit, ...PARTS);
    execFileSync(present("tar"), ["-x", "-C", folder], { input: archive });
  }
  // Its packages are those of today.
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "deno.json"), JSON.stringify({ nodeModulesDir: "manual" }));
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ ...manifest, version: VERSION }));
}

/** Names of files, in order. */
export function migrationsIn(folder: string): readonly string[] {
  return readdirSync(join(folder, "migrations")).filter((name) => /^\d{4}_.*\.sql$/.test(name)).sort();
}

/** The newest commit with fewer migrations, or null where there is no history that has one. */
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
    // No repository, or one that was cloned without what came before.
    return null;
  }
}

function git(...argv: readonly string[]) {
  return execFileSync(present("git"), argv, { cwd: ROOT, maxBuffer: 2 ** 28, stdio: ["ignore", "pipe", "ignore"] });
}
