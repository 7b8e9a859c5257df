// Writes the manifest of a Linux node image: manifest.json with the kind, the stamp, the architecture, the command
// line, and the SHA-256 and size of each file. The detached signature of the manifest is manifest.json.asc. The booter
// verifies the signature and the files before it serves the image.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ReleaseKey, signDetached } from "./signature.ts";

export type Manifest = {
  /** The folder with the files vmlinuz and initramfs, which also gets the manifest. */
  readonly folder: string;
  readonly stamp: string;
  /** The architecture of kernel and system. The booter treats a manifest without this field as x86_64. */
  readonly architecture?: "x86_64" | "arm64";
  readonly command_line: readonly string[];
  readonly key: ReleaseKey;
  readonly signed_at: Date;
};

const FILES = ["initramfs", "vmlinuz"] as const;

export type ListedFile = { readonly name: string; readonly sha256: string; readonly bytes: number };

/** Writes the manifest and its signature. Returns the listed files. */
export async function writeManifest(
  { folder, stamp, architecture = "x86_64", command_line, key, signed_at }: Manifest,
): Promise<readonly ListedFile[]> {
  const files = await Promise.all(FILES.map(async (name) => {
    const path = join(folder, name);
    return { name, sha256: await sha256Of(path), bytes: (await stat(path)).size };
  }));
  const document = Buffer.from(
    `${JSON.stringify({ kind: "linux", stamp, architecture, command_line, files }, null, 2)}\n`,
  );
  await writeFile(join(folder, "manifest.json"), document);
  await writeFile(join(folder, "manifest.json.asc"), await signDetached(key, document, signed_at));
  return files;
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part);
  return hash.digest("hex");
}
