import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { usageFailure } from "./failure.ts";

/** Throws a usage Failure if `path` is a directory, or if the directory above it is missing. */
export async function needDirectoryOf(path: string, flag: string): Promise<void> {
  const directory = dirname(path);
  const found = await stat(directory).catch(() => null);
  if (found?.isDirectory() !== true) throw usageFailure(`${flag} ${path}: there is no directory ${directory}`);
  const there = await stat(path).catch(() => null);
  if (there?.isDirectory() === true) throw usageFailure(`${flag} ${path} is a directory; name a file`);
}
