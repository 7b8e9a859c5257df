// Reads the public keys that verify the upstream channel and the Linux node images.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileReason } from "../../cli/internal/file-problem.ts";

/** Path of the release key, relative to the executable's folder. Packages and tarballs of the booter install it. */
const OWN_KEY = "../share/berth/release-key.asc";

/**
 * Reads the public key in the configured file. If no file is configured, reads the key of the booter's own release.
 * @throws Error that names the setting and the file
 */
export function upstreamKey(upstream_key_file: string | undefined): Promise<Uint8Array> {
  return releaseKey(upstream_key_file, "ur.setup.upstream_key_file");
}

/** Reads the key of Linux node images, with the same default as `upstreamKey`. */
export function imageKey(image_key_file: string | undefined): Promise<Uint8Array> {
  return releaseKey(image_key_file, "image_key_file");
}

async function releaseKey(configured: string | undefined, setting: string): Promise<Uint8Array> {
  const path = configured ?? join(dirname(process.execPath), OWN_KEY);
  try {
    return await readFile(path);
  } catch (error) {
    throw new Error(`${setting}: cannot read ${path}: ${fileReason(error)}. The file is the release's public key`);
  }
}
