// The folder of served files: firmware programs at its top, platform images in os/STAMP, and the archives of a setup in
// setup. A name from a client becomes part of a path only if it is in a map or matches a strict pattern. Links are
// followed only inside the folder.
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { isStamp } from "../src/lib/ids/stamp.ts";
import { TFTP_FILE_BYTES_MAX } from "./limits.ts";

export const BIOS_PROGRAM = "undionly.kpxe";
export const UEFI_PROGRAM = "snponly.efi";
export const PROGRAMS = [BIOS_PROGRAM, UEFI_PROGRAM] as const;

const KERNEL = "platform/i86pc/kernel/amd64/unix";
const ARCHIVE = "platform/i86pc/amd64/boot_archive";
const IMAGE_FILES: ReadonlySet<string> = new Set([
  KERNEL,
  ARCHIVE,
  `${ARCHIVE}.hash`,
  `${ARCHIVE}.manifest`,
  `${ARCHIVE}.gitstatus`,
]);

export type Files = {
  /** Returns the stamps of the platform images that had a kernel and an archive at the last scan. */
  staged(): ReadonlySet<string>;
  hasHash(stamp: string): boolean;
  program(name: string): Uint8Array | null;
  /** Scans the folder. Returns whether the set of staged images changed. */
  scan(): Promise<boolean>;
  /** Returns the path of the file for a URL path below /os/, or null. */
  imageFile(path: string): Promise<string | null>;
  /** Returns the path of a file for the setup of a machine (platform-STAMP.tgz or boot-STAMP.tgz), or null. */
  setupFile(name: string): Promise<string | null>;
};

export function openFiles(folder: string): Files {
  let staged: ReadonlySet<string> = new Set();
  let hashes: ReadonlySet<string> = new Set();
  const programs = new Map<string, { bytes: Uint8Array; mark: string }>();

  async function regular(...parts: string[]): Promise<string | null> {
    try {
      const root = await realpath(folder);
      const path = await realpath(join(root, ...parts));
      return path.startsWith(root + sep) && (await stat(path)).isFile() ? path : null;
    } catch {
      return null;
    }
  }

  async function scanPrograms(): Promise<void> {
    for (const name of PROGRAMS) {
      const path = await regular(name);
      if (path === null) {
        programs.delete(name);
        continue;
      }
      const { size, mtimeMs } = await stat(path);
      const mark = `${size} ${mtimeMs}`;
      if (size > TFTP_FILE_BYTES_MAX || programs.get(name)?.mark === mark) continue;
      programs.set(name, { bytes: await readFile(path), mark });
    }
  }

  return {
    staged: () => staged,
    hasHash: (stamp) => hashes.has(stamp),
    program: (name) => programs.get(name)?.bytes ?? null,
    async scan() {
      await scanPrograms();
      const names = (await readdir(join(folder, "os")).catch(() => [])).filter(isStamp);
      const found = new Set<string>();
      const with_hash = new Set<string>();
      for (const name of names) {
        if (await regular("os", name, KERNEL) === null || await regular("os", name, ARCHIVE) === null) continue;
        found.add(name);
        if (await regular("os", name, `${ARCHIVE}.hash`) !== null) with_hash.add(name);
      }
      const changed = found.size !== staged.size || [...found].some((stamp) => !staged.has(stamp));
      staged = found;
      hashes = with_hash;
      return changed;
    },
    async imageFile(path) {
      const [, stamp = "", rest = ""] = /^\/os\/([^/]+)\/(.+)$/.exec(path) ?? [];
      return isStamp(stamp) && IMAGE_FILES.has(rest) ? await regular("os", stamp, rest) : null;
    },
    async setupFile(name) {
      const [, stamp = ""] = /^(?:platform|boot)-(.+)\.tgz$/.exec(name) ?? [];
      return isStamp(stamp) ? await regular("setup", name) : null;
    },
  };
}
