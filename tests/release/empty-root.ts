// A root of nothing but dpkg's records, to install packages in.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lacking } from "../support/optional-programs.ts";
import { rootWords } from "./tools.ts";

const TOOLS = ["dpkg", "dpkg-query", "gpgv", "systemd-sysusers"] as const;
const FOLDERS = ["var/lib/dpkg/info", "var/lib/dpkg/updates", "etc"];
const EMPTY_FILES = ["var/lib/dpkg/status", "etc/passwd", "etc/group"];

/** It has neither a shell for the scripts nor the libraries that the packages depend on; it need not last. */
export const DPKG_FORCE = "script-chrootless,depends,unsafe-io";

/** Why nothing can be installed in one here, or null. */
export async function whyNoInstallation(): Promise<string | null> {
  return lacking(...TOOLS) ?? (await rootWords() === null ? "there is no way to be root" : null);
}

/** What was there before goes. */
export async function makeEmptyRoot(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  for (const name of FOLDERS) await mkdir(join(path, name), { recursive: true });
  for (const name of EMPTY_FILES) await writeFile(join(path, name), "");
}
