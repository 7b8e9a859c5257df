// Copies the source tree to a temporary folder, in which mutants are applied and programs run.
import { spawn } from "node:child_process";
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { type Edit, type Mutant, mutated } from "./mutant.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const FOLDERS = ["actors", "src", "cli", "booter", "nodeagent", "migrations", "tests"];
const FILES = ["deno.json", "deno.lock", "package.json"];
/** The folder of recorded answers, which is not copied because the programs do not read it. */
const LEFT_OUT = join(ROOT, "tests", "fixtures");

export type SourceCopy = {
  /**
   * Runs a program of the copy with a mutant applied, or (null) with the original source. Returns the program's
   * standard output. Throws if the program fails.
   */
  run(mutant: Mutant | null, argv: readonly string[]): Promise<string>;
  remove(): Promise<void>;
};

export async function copySources(): Promise<SourceCopy> {
  const folder = await temporaryFolder("mutants");
  for (const name of FOLDERS) {
    await cp(join(ROOT, name), join(folder.path, name), { recursive: true, filter: (path) => path !== LEFT_OUT });
  }
  for (const name of FILES) await cp(join(ROOT, name), join(folder.path, name));
  await symlink(join(ROOT, "node_modules"), join(folder.path, "node_modules"));
  return {
    async run(mutant, argv) {
      const edits = mutant?.edits ?? [];
      try {
        for (const edit of edits) await applyTo(folder.path, edit);
        return await outputOf(folder.path, argv);
      } finally {
        for (const { file } of edits) await cp(join(ROOT, file), join(folder.path, file));
      }
    },
    remove: () => folder.remove(),
  };
}

/** Reads a file of the original sources. */
export async function originalSource(file: string): Promise<string> {
  return await readFile(join(ROOT, file), "utf8");
}

async function applyTo(copy: string, edit: Edit): Promise<void> {
  const path = join(copy, edit.file);
  await writeFile(path, mutated(await readFile(path, "utf8"), edit));
}

function outputOf(cwd: string, argv: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, ["run", "-A", ...argv], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const [output, errors]: [string[], string[]] = [[], []];
  child.stdout.setEncoding("utf8").on("data", (text: string) => output.push(text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => errors.push(text));
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => {
      if (code === 0) done(output.join(""));
      else fail(new Error(`${argv.join(" ")} ended with ${code}: ${errors.join("").slice(-2_000)}`));
    });
  });
}
