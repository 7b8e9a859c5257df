// Builds the executables: `deno run -A cli/compile.ts [name...]` writes dist/NAME. Never run strip on an executable:
// strip removes the program and leaves a plain bun.
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import process from "node:process";
import { guardEnvironment } from "./environment-guard.ts";

export const NAMES = ["opsctl", "tenantctl", "nodeagent", "booter", "index-builder"] as const;
/** Programs whose source is in a top-level folder, not in cli/. */
const OWN_FOLDER: readonly string[] = ["booter", "index-builder", "nodeagent"];
export const BUN_VERSION = "1.4.5";
const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Returns the entry file of an executable. */
export function entryOf(name: (typeof NAMES)[number]): string {
  return OWN_FOLDER.includes(name) ? `${name}/main.ts` : `cli/${name}/main.ts`;
}

/**
 * Compiles the program at `entry` to `executable`. Both paths are absolute or relative to the project. The target is
 * Bun's name for a platform, such as bun-linux-arm64; the default is this machine's platform.
 */
export async function compile(entry: string, executable: string, target?: string): Promise<void> {
  const target_path = resolve(ROOT, executable);
  await mkdir(dirname(target_path), { recursive: true });
  // Builds in a temporary folder, so that users cannot start an executable that is incomplete or lacks the environment
  // guard.
  const folder = await mkdtemp(join(dirname(target_path), ".building-"));
  try {
    const draft = join(folder, basename(target_path));
    await build(entry, draft, target);
    await guardEnvironment(draft);
    await rename(draft, target_path);
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
    // Halves the start time: Bun need not parse the source at each start.
    "--bytecode",
    // Loads import()ed code late, which works only with ES modules.
    "--splitting",
    "--format=esm",
    // Without these flags the executable reads .env, bunfig.toml, tsconfig.json and package.json in the current
    // directory, and runs code that these files name.
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
    "--no-compile-autoload-tsconfig",
    "--no-compile-autoload-package-json",
    // The executable contains the file name of this path, but not its folder. So the random name of the folder does not
    // change the bytes.
    "--outfile",
    executable,
    ...target === undefined ? [] : [`--target=${target}`],
    entry,
  ];
  await new Promise<void>((built, reject) => {
    // The compiler's output goes to stderr.
    const child = spawn("npx", args, { cwd: ROOT, stdio: ["ignore", 2, 2] });
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      if (code === 0) built();
      else reject(new Error(`building ${executable} failed with ${signal ?? code}`));
    });
  });
}

if (import.meta.main) {
  const names = (process.argv.length > 2 ? process.argv.slice(2) : NAMES).map((given) => {
    const name = NAMES.find((known) => known === given);
    if (name === undefined) throw new Error(`${given} is not an executable; choose one of ${NAMES.join(", ")}`);
    return name;
  });
  await mkdir(`${ROOT}/dist`, { recursive: true });
  for (const name of names) {
    await compile(entryOf(name), `dist/${name}`);
  }
}
