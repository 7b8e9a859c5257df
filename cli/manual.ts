// Writes the man pages and completion scripts of every executable: `deno run -A cli/manual.ts [folder]`, by default
// into dist/, as man/man1/opsctl.1 and completion/bash/opsctl. The files are generated from the command trees. The date
// of a man page is SOURCE_DATE_EPOCH, or today.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { manualFiles } from "./manual/programs.ts";

/** Writes the files and returns their paths below `folder`. The date is in the form 2026-11-21. */
export async function writeManual(folder: string, date: string): Promise<string[]> {
  const files = await manualFiles(date);
  for (const { path, text } of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { mode: 0o644 });
  }
  return files.map(({ path }) => path);
}

if (import.meta.main) {
  const folder = process.argv[2] ?? fileURLToPath(new URL("../dist", import.meta.url));
  const given_s = process.env["SOURCE_DATE_EPOCH"];
  const time = given_s === undefined ? new Date() : new Date(Number(given_s) * 1_000);
  const paths = await writeManual(folder, time.toISOString().slice(0, "2026-11-21".length));
  console.log(`${paths.length} files written to ${folder}`);
}
