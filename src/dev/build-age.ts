// Finds when the executables in dist/ and their sources were last modified.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const SOURCES = ["cli", "nodeagent", "src/contract", "src/outbound", "src/lib", "package.json"];
export const EXECUTABLES = ["opsctl", "tenantctl", "nodeagent"];

/** Returns the modification time of the newest source, in milliseconds since 1970. */
export function newestSource(root: string): number {
  return Math.max(...SOURCES.map((source) => newestFile(join(root, source))));
}

/**
 * Returns the modification time of the oldest executable, in milliseconds since 1970; 0 if an executable is missing.
 */
export function oldestExecutable(root: string): number {
  return Math.min(...EXECUTABLES.map((name) => {
    const found = statSync(join(root, "dist", name), { throwIfNoEntry: false });
    return found?.mtimeMs ?? 0;
  }));
}

/** Returns the modification time of the newest file in a folder, or of a file, in milliseconds since 1970. */
export function newestFile(path: string): number {
  const found = statSync(path);
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newestFile(join(path, name))));
}
