// Writes the manual pages and completion scripts of every executable: `deno run -A cli/manual.ts [folder]`, by default
// into dist/, as man/man1/opsctl.1 and completion/bash/opsctl. They are made of the command trees alone.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { manualFiles } from "./manual/programs.ts";

/** Answers the paths it wrote, below `folder`. */
export async function writeManual(folder: string): Promise<string[]> {
  const files = await manualFiles();
  for (const { path, text } of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { mode: 0o644 });
  }
  return files.map(({ path }) => path);
}

if (import.meta.main) {
  const folder = process.argv[2] ?? fileURLToPath(new URL("../dist", import.meta.url));
  const paths = await writeManual(folder);
  console.log(`${paths.length} files written below ${folder}`);
}
