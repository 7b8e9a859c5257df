// A file of a VM gets its final name only after all its data is on the disk, so no file is incomplete after a power
// loss. The test copies the disk below a mounted file system, and mounts the copy. The copy lacks the data that the
// kernel has not yet written, as a disk does after a power loss.
import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { chmod, chown, copyFile, mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { placesOf } from "../../nodeagent/qemu/folders.ts";
import {
  copyDisk,
  copyImage,
  createDisk,
  createUefiVariables,
  createVmFolder,
  exportDisk,
  writeSeed,
} from "../../nodeagent/qemu/vm-disks.ts";
import { lacking, present } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { lacksMachine } from "./machine.ts";

const MIB = 2 ** 20;
const DISK_BYTES = 128 * MIB;
const SIZE_BYTES = 4 * MIB;
const UID = 200_000;
const run = promisify(execFile);
/** A signal that is never aborted. */
const { signal } = new AbortController();
const lacks = lacksMachine() ?? lacking("mke2fs", "mount", "umount", "qemu-img");
const places = () => placesOf({ machine_dir: join(folder.path, "mounted"), run_dir: folder.path }, id);
const inVm = (name: string) => join(places().folder, name);

let folder: TemporaryFolder;
const id = randomUUID();
const disk = { id: randomUUID(), size_bytes: SIZE_BYTES };
const content = randomBytes(2 * MIB);

beforeEach((context) => context.skip(lacks !== null, lacks ?? ""));
beforeAll(async () => {
  if (lacks !== null) return;
  folder = await temporaryFolder("d");
  // The programs of the user of a VM must be able to enter the folder.
  await chmod(folder.path, 0o711);
  const file = join(folder.path, "disk");
  await writeFile(file, "");
  await truncate(file, DISK_BYTES);
  await run(present("mke2fs"), ["-q", "-t", "ext4", file]);
  await mount("disk", "mounted");
  await mkdir(join(folder.path, "mounted", "vm"));
  await createVmFolder(places(), UID);
  await writeFile(join(folder.path, "raw"), content);
  await run(present("qemu-img"), ["convert", "-f", "raw", "-O", "qcow2", join(folder.path, "raw"), inVm("source")]);
  await chown(inVm("source"), UID, UID);
});
afterAll(async () => {
  if (lacks !== null) return;
  await run(present("umount"), [join(folder.path, "mounted")]);
  await folder.remove();
});

async function mount(name: string, point: string): Promise<void> {
  await mkdir(join(folder.path, point), { recursive: true });
  await run(present("mount"), ["-o", "loop", join(folder.path, name), join(folder.path, point)]);
}

const made: Readonly<Record<string, (to: string) => Promise<unknown>>> = {
  "an exported image": (to) => exportDisk({ from: inVm("source"), to, uid: UID, signal }),
  "a copied disk": (to) => copyDisk({ from: inVm("source"), to, uid: UID, signal }, SIZE_BYTES),
  "a disk from an image": (to) => copyImage({ from: inVm("source"), to, uid: UID, signal }, SIZE_BYTES),
  "an empty disk": (to) => createDisk({ ...places(), disk: () => to }, disk, { uid: UID, has_base: false }),
  "a seed volume": (to) => writeSeed({ ...places(), seed: to }, content, UID),
  "the UEFI variables": (to) => createUefiVariables({ ...places(), uefi_variables: to }, join(folder.path, "raw"), UID),
};

test.each(Object.entries(made))("after a loss of power, %s is complete", async (_, make) => {
  const to = inVm(randomUUID());
  await make(to);
  await copyFile(join(folder.path, "disk"), join(folder.path, "after"));
  await mount("after", "left");
  try {
    const left = to.replace(join(folder.path, "mounted"), join(folder.path, "left"));
    expect((await readFile(left)).equals(await readFile(to))).toBe(true);
  } finally {
    await run(present("umount"), [join(folder.path, "left")]);
  }
});
