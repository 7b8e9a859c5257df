// Builds the executables: `deno run -A cli/compile.ts [name...]` writes dist/NAME. They must never be stripped: strip
// leaves a plain bun behind.
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import process from "node:process";
import { guardEnvironment } from "./environment-guard.ts";

export const NAMES = ["opsctl", "tenantctl", "nodeagent", "booter", "index-builder"] as const;
/** Those that have a folder of their own at the top. */
const OWN_FOLDER: readonly string[] = ["booter", "index-builder", "nodeagent"];
export const BUN_VERSION = "1.4.5";
const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The file that the executable starts at. */
export function entryOf(name: (typeof NAMES)[number]): string {
  return OWN_FOLDER.includes(name) ? `${name}/main.ts` : `cli/${name}/main.ts`;
}

/**
 * Compiles the program that starts at `entry`; both paths are relative to the project or absolute. The target is Bun's
 * name for a kind of machine, such as bun-linux-arm64; without it, this machine's.
 */
export async function compile(entry: string, executable: string, target?: string): Promise<void> {
  const whole = resolve(ROOT, executable);
  await mkdir(dirname(whole), { recursive: true });
  // Beside it, so that nobody ever starts an executable that is not whole, or has no guard yet.
  const folder = await mkdtemp(join(dirname(whole), ".building-"));
  try {
    const draft = join(folder, basename(whole));
    await build(entry, draft, target);
    await guardEnvironment(draft);
    await rename(draft, whole);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function build(entry: string, executable: string, target: string | undefined): Promise<void> {
  const args = [
    "-y",
    `bun@${BUN_VERSION}`,
    "build",
    "--compile",
    "--minify",
    // Halves the start time: the parser does not run.
    "--bytecode",
    // What import() loads stays out of the start, which only modules of this format can.
    "--splitting",
    "--format=esm",
    // Otherwise the executable reads these files of the folder that it is started in, and runs what they name.
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
    "--no-compile-autoload-tsconfig",
    "--no-compile-autoload-package-json",
    // The file name is part of the executable: the same one every time makes the build reproducible.
    "--outfile",
    executable,
    ...target === undefined ? [] : [`--target=${target}`],
    entry,
  ];
  await new Promise<void>((built, reject) => {
    // What the compiler tells is no answer of ours.
    const child = spawn("npx", args, { cwd: ROOT, stdio: ["ignore", 2, 2] });
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      if (code === 0) built();
      else reject(new Error(`building ${executable} ended with ${signal ?? code}`));
    });
  });
}

if (import.meta.main) {
  const names = (process.argv.length > 2 ? process.argv.slice(2) : NAMES).map((given) => {
    const name = NAMES.find((known) => known === given);
    if (name === undefined) throw new Error(`no executable is called ${given}: ${NAMES.join(", ")}`);
    return name;
  });
  await mkdir(`${ROOT}/dist`, { recursive: true });
  for (const name of names) {
    await compile(entryOf(name), `dist/${name}`);
  }
}
