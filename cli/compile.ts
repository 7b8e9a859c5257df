// Builds the executables: `deno run -A cli/compile.ts [name...]` writes dist/NAME. They must never be stripped: strip
// leaves a plain bun behind (ecosystem, trap 8).
import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import process from "node:process";

const NAMES = ["opsctl", "tenantctl", "nodeagent", "index-builder"] as const;
const BUN = "bun@1.4.5";
const ROOT = fileURLToPath(new URL("..", import.meta.url));

const names = process.argv.length > 2 ? process.argv.slice(2) : NAMES;
for (const name of names) {
  if (!NAMES.some((known) => known === name)) throw new Error(`no executable is called ${name}: ${NAMES.join(", ")}`);
}
await mkdir(`${ROOT}/dist`, { recursive: true });
for (const name of names) await compile(name);

function compile(name: string): Promise<void> {
  const args = [
    "-y",
    BUN,
    "build",
    "--compile",
    "--minify",
    // Halves the start time: the parser does not run.
    "--bytecode",
    // Otherwise the executable reads .env and bunfig.toml of whatever folder it is started in (trap 7).
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
    // The file name is part of the executable: the same one every time makes the build reproducible.
    "--outfile",
    `dist/${name}`,
    name === "index-builder" ? `${name}/main.ts` : `cli/${name}/main.ts`,
  ];
  return new Promise((resolve, reject) => {
    const child = spawn("npx", args, { cwd: ROOT, stdio: "inherit" });
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`building ${name} ended with ${signal ?? code}`));
    });
  });
}
