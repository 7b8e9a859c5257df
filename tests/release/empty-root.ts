// Creates a root file system with only dpkg's database, in which tests install packages.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lacking } from "../support/optional-programs.ts";
import { rootWords } from "./tools.ts";

const TOOLS = ["dpkg", "dpkg-query", "gpgv", "systemd-sysusers"] as const;
const FOLDERS = ["var/lib/dpkg/info", "var/lib/dpkg/updates", "etc"];
const EMPTY_FILES = ["var/lib/dpkg/status", "etc/passwd", "etc/group"];

/**
 * The value of DPKG_FORCE for the root. The root is temporary, and lacks a shell for maintainer scripts and the
 * libraries of the packages.
 */
export const DPKG_FORCE = "script-chrootless,depends,unsafe-io";

/** Returns why this machine cannot install packages in an empty root, or null if it can. */
export async function whyNoInstallation(): Promise<string | null> {
  return lacking(...TOOLS) ?? (await rootWords() === null ? "this user cannot become root" : null);
}

/** Creates an empty root at the path. Removes an existing root. */
export async function makeEmptyRoot(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  for (const name of FOLDERS) await mkdir(join(path, name), { recursive: true });
  for (const name of EMPTY_FILES) await writeFile(join(path, name), "");
}
