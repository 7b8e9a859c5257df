// A root of nothing but dpkg's records, to install packages in.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hasTool, rootWords } from "./tools.ts";

const TOOLS = ["dpkg", "dpkg-query", "gpgv", "sha256sum", "base64", "systemd-sysusers"];
const FOLDERS = ["var/lib/dpkg/info", "var/lib/dpkg/updates", "etc"];
const EMPTY_FILES = ["var/lib/dpkg/status", "etc/passwd", "etc/group"];

/** It has neither a shell for the scripts nor the libraries that the packages depend on; it need not last. */
export const DPKG_FORCE = "script-chrootless,depends,unsafe-io";

/** What is missing here to install in one; empty where nothing is. */
export async function missingToInstall(): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const name of TOOLS) if (!await hasTool(name)) missing.push(name);
  return await rootWords() === null ? [...missing, "a way to be root"] : missing;
}

/** What was there before goes. */
export async function makeEmptyRoot(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  for (const name of FOLDERS) await mkdir(join(path, name), { recursive: true });
  for (const name of EMPTY_FILES) await writeFile(join(path, name), "");
}
