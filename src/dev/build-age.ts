// Whether the executables in dist/ are as new as what they are made of.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const SOURCES = ["cli", "nodeagent", "src/contract", "src/outbound", "src/lib", "package.json"];
export const EXECUTABLES = ["opsctl", "tenantctl", "nodeagent"];

/** Milliseconds since 1970 of the newest source; the clock of the file system. */
export function newestSource(root: string): number {
  return Math.max(...SOURCES.map((source) => newest(join(root, source))));
}

/** Milliseconds since 1970 of the oldest executable, or 0 when one is missing. */
export function oldestExecutable(root: string): number {
  return Math.min(...EXECUTABLES.map((name) => {
    const found = statSync(join(root, "dist", name), { throwIfNoEntry: false });
    return found?.mtimeMs ?? 0;
  }));
}

function newest(path: string): number {
  const found = statSync(path);
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))));
}
