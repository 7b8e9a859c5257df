// Makes a Linux node image for tests. The code of `task node-image` makes the manifest and its signature. The files are
// small.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeManifest } from "../../cli/release/node-manifest.ts";
import { armoredPublicKey, readReleaseKey } from "../../cli/release/signature.ts";
import { writeReleaseKey } from "../release/release-key.ts";

export const LINUX_STAMP = "20261101T000000Z";

/** Writes the image and its public key below the folder. Returns the booter's setting that names the key's file. */
export async function stageLinuxImage(
  folder: string,
  kernel = "a Linux kernel",
  architecture: "x86_64" | "arm64" = "x86_64",
): Promise<string> {
  const image = join(folder, "files/os", LINUX_STAMP);
  await mkdir(image, { recursive: true });
  await writeFile(join(image, "vmlinuz"), kernel);
  await writeFile(join(image, "initramfs"), "an initial file system");
  const key_path = join(folder, "image-key");
  await writeReleaseKey(key_path);
  const key = await readReleaseKey(key_path, null);
  await writeFile(join(folder, "image-key.asc"), armoredPublicKey(key));
  const signed_at = new Date("2026-01-02T00:00:00Z");
  await writeManifest({ folder: image, stamp: LINUX_STAMP, architecture, command_line: ["quiet"], key, signed_at });
  return `image_key_file = "${folder}/image-key.asc"\n`;
}
