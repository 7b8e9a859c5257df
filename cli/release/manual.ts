// Generates the man pages and completion scripts, with their paths in packages.
import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import process from "node:process";
import { gzipped } from "../internal/gzip.ts";
import type { Entry } from "../internal/tar.ts";

/** Output folders of cli/manual.ts, each with Debian's folder for such files. */
const PLACES = [
  ["completion/bash/", "usr/share/bash-completion/completions/"],
  ["completion/zsh/", "usr/share/zsh/vendor-completions/"],
  ["completion/fish/", "usr/share/fish/vendor_completions.d/"],
] as const;
const FILE_MODE = 0o644;

type Manual = {
  /** The project's folder. */
  readonly root: string;
  /** Folder for temporary output. */
  readonly folder: string;
  /** The date of the pages: seconds since 1970. */
  readonly time_s: number;
};

/** Generates the manual. Throws an Error for a file without a folder in packages. */
export async function manualEntries({ root, folder, time_s }: Manual): Promise<Entry[]> {
  await writeManual({ root, folder, time_s });
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile());
  return await Promise.all(files.map(async (each) => {
    const path = join(each.parentPath, each.name);
    return await placed(relative(folder, path), await readFile(path));
  }));
}

async function placed(path: string, bytes: Uint8Array): Promise<Entry> {
  if (path.startsWith("man/")) {
    return { path: `usr/share/${path}.gz`, bytes: await gzipped(bytes), mode: FILE_MODE };
  }
  for (const [from, to] of PLACES) {
    if (path.startsWith(from)) return { path: `${to}${path.slice(from.length)}`, bytes, mode: FILE_MODE };
  }
  throw new Error(`${path} matches no folder in PLACES`);
}

function writeManual({ root, folder, time_s }: Manual): Promise<void> {
  const argv = ["run", "-A", "--quiet", join(root, "cli/manual.ts"), folder];
  return new Promise((resolve, reject) => {
    const env = { ...process.env, SOURCE_DATE_EPOCH: String(time_s) };
    const child = spawn(process.execPath, argv, { cwd: root, env, stdio: ["ignore", "ignore", "inherit"] });
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`writing the manual ended with ${signal ?? code}`));
    });
  });
}
