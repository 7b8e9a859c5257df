// The test guest: a Linux of 20 MB with ssh and a shell on its serial console. It is built once from Debian packages,
// and kept until a file of this folder changes.
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
  /** Sizes of the file and of the disk in it. */
  readonly size_bytes: number;
  readonly content_bytes: number;
};

/** Programs that the build needs. */
export const GUEST_BUILD: readonly Optional[] = ["bash", "apt-get", "dpkg-deb", "mke2fs", "qemu-img"];

const HERE = fileURLToPath(new URL(".", import.meta.url));
const SOURCES = ["build.sh", "init", "udhcpc.sh"];
const CACHE = fileURLToPath(new URL("../../.berth/guests/", import.meta.url));
const BUILD_LIMIT_MS = 240_000;
const run = promisify(execFile);

/** Returns the guest, built if needed. The caller has checked GUEST_BUILD. */
export async function builtGuest(): Promise<Guest> {
  const digest = createHash("sha256");
  for (const name of SOURCES) digest.update(await readFile(join(HERE, name)));
  const folder = join(CACHE, digest.digest("hex").slice(0, 16));
  const path = join(folder, "guest.qcow2");
  if (!existsSync(path)) await build(folder);
  const { stdout } = await run(present("qemu-img"), ["info", "--output=json", path]);
  return {
    path,
    sha256: createHash("sha256").update(await readFile(path)).digest("hex"),
    size_bytes: (await stat(path)).size,
    content_bytes: JSON.parse(stdout)["virtual-size"],
  };
}

async function build(folder: string): Promise<void> {
  const draft = `${folder}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  try {
    await run(present("bash"), [join(HERE, "build.sh"), draft], { timeout: BUILD_LIMIT_MS, maxBuffer: 2 ** 24 });
    // Another process may have built it in the meantime.
    await rename(draft, folder).catch(() => {});
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
