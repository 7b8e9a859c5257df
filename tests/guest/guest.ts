// Builds the images of guests. The test guest is a Linux of 20 MB with ssh, the QEMU guest agent and a shell on its
// serial console. The second image is a Debian with cloud-init. An image is built once from Debian packages, and kept
// until its script or a file that the script uses changes.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Optional, present } from "../support/optional-programs.ts";

export type Guest = {
  readonly path: string;
  readonly sha256: string;
  /** The size of the image file, and the size of the disk that the file contains. */
  readonly size_bytes: number;
  readonly content_bytes: number;
};

/** The programs that the build needs. */
export const GUEST_BUILD: readonly Optional[] = ["bash", "apt-get", "dpkg-deb", "mke2fs", "qemu-img"];

const HERE = fileURLToPath(new URL(".", import.meta.url));
const CACHE = fileURLToPath(new URL("../../.berth/guests/", import.meta.url));
const run = promisify(execFile);

type Build = {
  readonly script: string;
  /** The files that the script uses. */
  readonly others: readonly string[];
  /** The file name of the image that the script writes. */
  readonly image: string;
  readonly limit_ms: number;
};

const GUEST: Build = {
  script: "build.sh",
  others: ["disk.sh", "init", "udhcpc.sh"],
  image: "guest.qcow2",
  limit_ms: 240_000,
};
/** debootstrap takes 10 minutes on a slow disk, so the time limit is 25 minutes. */
const CLOUD: Build = { script: "cloud-image.sh", others: ["disk.sh"], image: "cloud.qcow2", limit_ms: 1_500_000 };

/**
 * Returns the test guest, and builds it if needed. Before the call, the caller must check that the programs of
 * GUEST_BUILD exist.
 */
export function builtGuest(): Promise<Guest> {
  return built(GUEST);
}

/** Returns a Debian with cloud-init, and builds it if needed. The build also needs debootstrap and chroot. */
export function builtCloudImage(): Promise<Guest> {
  return built(CLOUD);
}

async function built({ script, others, image, limit_ms }: Build): Promise<Guest> {
  const digest = createHash("sha256");
  for (const name of [script, ...others]) digest.update(await readFile(join(HERE, name)));
  const folder = join(CACHE, digest.digest("hex").slice(0, 16));
  const path = join(folder, image);
  if (!existsSync(path)) await build(script, folder, limit_ms);
  const { stdout } = await run(present("qemu-img"), ["info", "--output=json", path]);
  return {
    path,
    sha256: createHash("sha256").update(await readFile(path)).digest("hex"),
    size_bytes: (await stat(path)).size,
    content_bytes: JSON.parse(stdout)["virtual-size"],
  };
}

async function build(script: string, folder: string, limit_ms: number): Promise<void> {
  const draft = `${folder}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  try {
    await run(present("bash"), [join(HERE, script), draft], { timeout: limit_ms, maxBuffer: 2 ** 24 });
    // Another process may have built the image during this build.
    await rename(draft, folder).catch(() => {});
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
