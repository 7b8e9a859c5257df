// Describes the platform images in files_dir/os/STAMP, and verifies Linux node images. A folder with a manifest.json is
// a Linux node image; a folder without a manifest.json is a SmartOS platform. A Linux node image has a kernel, an
// initial file system and a manifest with their SHA-256 and size. The booter serves a Linux node image only if its
// manifest has a good signature and both files match the manifest.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { isKernelArgument } from "../src/lib/text/kernel-argument.ts";
import { type Architecture, ARCHITECTURES } from "./decision.ts";
import { type SignedFile, signedFiles, signingTimeOf } from "./mirror/signed-document.ts";

export type SmartosImage = { readonly kind: "smartos"; readonly has_hash: boolean };
export type LinuxImage = {
  readonly kind: "linux";
  readonly architecture: Architecture;
  readonly command_line: readonly string[];
};
export type PlatformImage = SmartosImage | LinuxImage;

export const MANIFEST = "manifest.json";
export const MANIFEST_SIGNATURE = "manifest.json.asc";
export const LINUX_KERNEL = "vmlinuz";
export const LINUX_ARCHIVE = "initramfs";
const FILE_NAME = /^(?:vmlinuz|initramfs)$/;
/**
 * The limits for a manifest: its size and its number of kernel arguments. A usual manifest has less than one kilobyte.
 */
const MANIFEST_BYTES_MAX = 65_536;
const COMMAND_LINE_MAX = 32;

/** Returns the path of a file of the image's folder, or null if it does not exist. */
export type FileOf = (name: string) => Promise<string | null>;

export type LinuxImageParts = {
  readonly stamp: string;
  readonly fileOf: FileOf;
  /** The public key that verifies the signature of the manifest. */
  readonly key: Uint8Array;
};

/**
 * Verifies a Linux node image.
 * @throws Error that names the file and what is wrong with it
 */
export async function verifiedLinuxImage({ stamp, fileOf, key }: LinuxImageParts): Promise<LinuxImage> {
  const [document, signature] = [await small(fileOf, MANIFEST), await small(fileOf, MANIFEST_SIGNATURE)];
  try {
    await signingTimeOf({ document, signature, key, now: new Date() });
  } catch (error) {
    throw new Error(`${MANIFEST}: ${error instanceof Error ? error.message : "cannot be verified"}`);
  }
  const { files, architecture, command_line } = manifestOf(document, stamp);
  for (const file of files) await compare(file, await fileOf(file.name));
  return { kind: "linux", architecture, command_line };
}

function manifestOf(document: Uint8Array, wanted: string) {
  try {
    const { kind, stamp, architecture: named = ARCHITECTURES[0], command_line, files: listed } = JSON.parse(
      new TextDecoder().decode(document),
    ) as Record<
      string,
      unknown
    >;
    if (kind !== "linux") throw new Error("kind must be linux");
    const architecture = ARCHITECTURES.find((each) => each === named);
    if (architecture === undefined) throw new Error(`architecture must be one of ${ARCHITECTURES.join(", ")}`);
    if (stamp !== wanted) throw new Error(`belongs to the image ${String(stamp).slice(0, 64)}, not to ${wanted}`);
    if (
      !Array.isArray(command_line) || command_line.length > COMMAND_LINE_MAX ||
      !command_line.every((word) => typeof word === "string" && isKernelArgument(word))
    ) throw new Error(`command_line must be a list of at most ${COMMAND_LINE_MAX} kernel arguments`);
    const files = signedFiles(listed, FILE_NAME);
    const lacking = [LINUX_KERNEL, LINUX_ARCHIVE].find((each) => !files.some(({ name }) => name === each));
    if (lacking !== undefined) throw new Error(`${lacking} is not among its files`);
    return { files, architecture, command_line: command_line as string[] };
  } catch (error) {
    throw new Error(`${MANIFEST}: ${error instanceof SyntaxError ? "is not JSON" : (error as Error).message}`);
  }
}

async function compare({ name, sha256, bytes }: SignedFile, path: string | null): Promise<void> {
  if (path === null) throw new Error(`${name}: is missing`);
  const { size } = await stat(path);
  if (size !== bytes) throw new Error(`${name}: has ${size} bytes, and the manifest says ${bytes}`);
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part);
  if (hash.digest("hex") !== sha256) throw new Error(`${name}: its SHA-256 differs from the manifest`);
}

async function small(fileOf: FileOf, name: string): Promise<Uint8Array> {
  const path = await fileOf(name);
  if (path === null) throw new Error(`${name}: is missing`);
  if ((await stat(path)).size > MANIFEST_BYTES_MAX) {
    throw new Error(`${name}: has more than ${MANIFEST_BYTES_MAX} bytes`);
  }
  return await readFile(path);
}
