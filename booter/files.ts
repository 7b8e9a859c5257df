// Manages the folder of served files: firmware programs, platform images (in os/STAMP), and the archives that a setup
// installs (in setup/). platform-image.ts describes the kinds of platform images. A name from a client becomes
// part of a path only if the name is in a list or matches a strict pattern. Links are followed only inside the folder.
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { isStamp } from "../src/lib/ids/stamp.ts";
import { TFTP_FILE_BYTES_MAX } from "./limits.ts";
import {
  LINUX_ARCHIVE,
  LINUX_KERNEL,
  MANIFEST,
  MANIFEST_SIGNATURE,
  type PlatformImage,
  verifiedLinuxImage,
} from "./platform-image.ts";

export const BIOS_PROGRAM = "undionly.kpxe";
export const UEFI_PROGRAM = "snponly.efi";
export const ARM64_PROGRAM = "ipxe-arm64.efi";
/** Programs that every booter needs. */
export const PROGRAMS = [BIOS_PROGRAM, UEFI_PROGRAM] as const;
/**
 * Signed loaders for Secure Boot, by architecture. The firmware starts the first program, the shim. The shim loads the
 * second program, or the third if a key must be enrolled. The names of both are built into the shim.
 */
export const SECURE_PROGRAMS = {
  x86_64: ["shimx64.efi", "grubx64.efi", "mmx64.efi"],
  arm64: ["shimaa64.efi", "grubaa64.efi", "mmaa64.efi"],
} as const;
const SERVED: readonly string[] = [...PROGRAMS, ARM64_PROGRAM, ...Object.values(SECURE_PROGRAMS).flat()];

const KERNEL = "platform/i86pc/kernel/amd64/unix";
const ARCHIVE = "platform/i86pc/amd64/boot_archive";
const IMAGE_FILES: ReadonlySet<string> = new Set([
  KERNEL,
  ARCHIVE,
  `${ARCHIVE}.hash`,
  `${ARCHIVE}.manifest`,
  `${ARCHIVE}.gitstatus`,
]);
const LINUX_FILES: ReadonlySet<string> = new Set([LINUX_KERNEL, LINUX_ARCHIVE]);

export type Files = {
  /** Returns the stamps of the platform images that were complete at the last scan. */
  staged(): ReadonlySet<string>;
  /** Returns the staged images for ARM64. */
  arm64Images(): ReadonlySet<string>;
  /** Returns whether there is a program for ARM64. */
  hasArm64(): boolean;
  /** Returns a staged image, or null. */
  image(stamp: string): PlatformImage | null;
  /** Returns the images that the last scan refused, each with the reason. */
  refused(): ReadonlyMap<string, string>;
  program(name: string): Uint8Array | null;
  /** Scans the folder. Returns whether the set of staged images changed. */
  scan(): Promise<boolean>;
  /** Returns the path of the file for a URL path below /os/, or null. */
  imageFile(path: string): Promise<string | null>;
  /** Returns the path of a file for the setup of a machine (platform-STAMP.tgz or boot-STAMP.tgz), or null. */
  setupFile(name: string): Promise<string | null>;
};

type Verified = { readonly mark: string; readonly image: PlatformImage | null; readonly reason: string | null };

/** @param image_key returns the public key that verifies the manifests of Linux node images */
export function openFiles(folder: string, image_key: () => Promise<Uint8Array>): Files {
  let images: ReadonlyMap<string, PlatformImage> = new Map();
  let staged: ReadonlySet<string> = new Set();
  let arm64: ReadonlySet<string> = new Set();
  let refused: ReadonlyMap<string, string> = new Map();
  const verified = new Map<string, Verified>();
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
    for (const name of SERVED) {
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

  async function smartosImage(stamp: string): Promise<PlatformImage | null> {
    if (await regular("os", stamp, KERNEL) === null || await regular("os", stamp, ARCHIVE) === null) return null;
    return { kind: "smartos", has_hash: await regular("os", stamp, `${ARCHIVE}.hash`) !== null };
  }

  /**
   * Verifies a Linux node image if one of its files changed since the last scan. An unchanged image is not verified
   * again, because its digests take seconds.
   */
  async function linuxImage(stamp: string): Promise<Verified> {
    const fileOf = (name: string) => regular("os", stamp, name);
    const paths = await Promise.all([MANIFEST, MANIFEST_SIGNATURE, LINUX_KERNEL, LINUX_ARCHIVE].map(fileOf));
    const marks = await Promise.all(paths.map((path) => path === null ? null : stat(path)));
    const mark = marks.map((each) => each === null ? "-" : `${each.size} ${each.mtimeMs} ${each.ino}`).join();
    const before = verified.get(stamp);
    if (before?.mark === mark) return before;
    const refusal = (of: string, error: unknown): Verified => (
      { mark: of, image: null, reason: error instanceof Error ? error.message : "cannot be verified" }
    );
    let key: Uint8Array;
    try {
      key = await image_key();
    } catch (error) {
      // A scan skips an image whose mark has not changed. The mark does not depend on the key, so a scan would not
      // notice a new key. An empty mark, which no image has, makes the next scan verify the image again.
      return refusal("", error);
    }
    try {
      return { mark, image: await verifiedLinuxImage({ stamp, fileOf, key }), reason: null };
    } catch (error) {
      return refusal(mark, error);
    }
  }

  return {
    staged: () => staged,
    arm64Images: () => arm64,
    hasArm64: () => programs.has(ARM64_PROGRAM) || programs.has(SECURE_PROGRAMS.arm64[0]),
    image: (stamp) => images.get(stamp) ?? null,
    refused: () => refused,
    program: (name) => programs.get(name)?.bytes ?? null,
    async scan() {
      await scanPrograms();
      const names = (await readdir(join(folder, "os")).catch(() => [])).filter(isStamp);
      const found = new Map<string, PlatformImage>();
      const reasons = new Map<string, string>();
      for (const name of names) {
        if (await regular("os", name, MANIFEST) === null) {
          const image = await smartosImage(name);
          if (image !== null) found.set(name, image);
          continue;
        }
        const result = await linuxImage(name);
        verified.set(name, result);
        if (result.image !== null) found.set(name, result.image);
        else reasons.set(name, result.reason ?? "");
      }
      for (const name of verified.keys()) if (!names.includes(name)) verified.delete(name);
      const changed = found.size !== images.size ||
        [...found].some(([stamp, { kind }]) => images.get(stamp)?.kind !== kind);
      images = found;
      staged = new Set(found.keys());
      arm64 = new Set([...found].flatMap(([stamp, image]) => isArm64(image) ? [stamp] : []));
      refused = reasons;
      return changed;
    },
    async imageFile(path) {
      const [, stamp = "", rest = ""] = /^\/os\/([^/]+)\/(.+)$/.exec(path) ?? [];
      if (!isStamp(stamp)) return null;
      // Serves no files of a refused Linux image, because they may be damaged.
      const served = images.get(stamp)?.kind === "linux" ? LINUX_FILES : IMAGE_FILES;
      return served.has(rest) ? await regular("os", stamp, rest) : null;
    },
    async setupFile(name) {
      const [, stamp = ""] = /^(?:platform|boot)-(.+)\.tgz$/.exec(name) ?? [];
      return isStamp(stamp) ? await regular("setup", name) : null;
    },
  };
}

function isArm64(image: PlatformImage): boolean {
  return image.kind === "linux" && image.architecture === "arm64";
}
