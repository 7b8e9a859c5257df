// Creates and changes the disk files of a VM. Each is a qcow2 file that belongs to the VM's user; the boot disk refers
// to a base image in the same folder. The base is a hard link, so QEMU reaches this image and no other one.
import { chmod, chown, copyFile, link, mkdir, open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { DISK_BYTES_MAX } from "../../src/contract/limits.ts";
import type { Stoppable } from "../driver.ts";
import { renameDurably } from "./durable-rename.ts";
import type { VmPlaces } from "./folders.ts";
import { runProgram } from "./run-program.ts";
import { runUnprivileged } from "./unprivileged.ts";
import type { VmDisk } from "./vm-record.ts";

/** Small clusters with subclusters: a first write to a cluster copies 4 KiB of the base, not 128 KiB. */
const FORMAT = "extended_l2=on,cluster_size=128k";
const OWNER_ONLY = 0o600;
const OWNER_READS = 0o400;
/** QEMU's group may enter the folder, but cannot list it or create files. */
const PASSABLE = 0o710;
/** The size of the first sector of a disk, and the part of the sector with the code that BIOS starts. */
const SECTOR_BYTES = 512;
const BOOT_CODE_BYTES = 440;
/** Processor time to grow a disk. The growth changes only the tables in the file. */
const GROW_PROCESSOR_S_MAX = 20;

export async function createVmFolder({ folder }: VmPlaces, uid: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: PASSABLE });
  await chown(folder, 0, uid);
  await chmod(folder, PASSABLE);
}

/** Creates a disk if it does not exist. The disk is an overlay of the base, or empty if there is no base. */
export async function createDisk(
  places: VmPlaces,
  disk: Pick<VmDisk, "id" | "size_bytes">,
  { uid, has_base }: { readonly uid: number; readonly has_base: boolean },
): Promise<void> {
  const path = places.disk(disk.id);
  if (await exists(path)) return;
  await renameDurably(await draftDisk(places, disk, { uid, has_base }), path);
}

/** Creates a new file for a disk beside the disk's present file, and returns the path of the new file. */
export async function draftDisk(
  places: VmPlaces,
  disk: Pick<VmDisk, "id" | "size_bytes">,
  { uid, has_base }: { readonly uid: number; readonly has_base: boolean },
): Promise<string> {
  const draft = `${places.disk(disk.id)}.new`;
  const base = has_base ? ["-b", "base.qcow2", "-F", "qcow2"] : [];
  await rm(draft, { force: true });
  await runProgram(["qemu-img", "create", "-q", "-f", "qcow2", "-o", FORMAT, ...base, draft, String(disk.size_bytes)]);
  await chmod(draft, OWNER_ONLY);
  await chown(draft, uid, uid);
  return draft;
}

/** Replaces a disk by a new disk without data. The new disk refers to the same base image, if there is one. */
export async function recreateDisk(places: VmPlaces, disk: VmDisk, uid: number): Promise<void> {
  await rm(places.disk(disk.id), { force: true });
  await createDisk(places, disk, { uid, has_base: disk.image_sha256 !== null });
}

/** Limits of a program that copies a disk: elapsed time, processor time, and file size (a disk and its tables). */
const COPY_LIMIT_MS = 30 * 60_000;
const COPY_PROCESSOR_S_MAX = 1_200;
const COPY_BYTES_MAX = DISK_BYTES_MAX + DISK_BYTES_MAX / 8;

type Copy = Stoppable & { readonly from: string; readonly to: string; readonly uid: number };

/**
 * Copies a disk that no QEMU writes to, together with the data of its base, into one complete file. The program runs as
 * the VM's user, as in growDisk. `to` appears only when it is complete and on disk.
 * @param size_bytes of the copy; at least the size of the disk
 */
export async function copyDisk({ from, to, uid, signal }: Copy, size_bytes: number): Promise<void> {
  await drafted(to, async (draft) => {
    await createEmptyFile(draft, uid);
    const limits = { uid, file_bytes_max: COPY_BYTES_MAX, processor_s_max: COPY_PROCESSOR_S_MAX };
    const options = { ...limits, limit_ms: COPY_LIMIT_MS, signal };
    await runUnprivileged(["qemu-img", "convert", "-f", "qcow2", "-O", "qcow2", "-o", FORMAT, from, draft], options);
    await growDisk(draft, size_bytes, uid);
  });
}

/**
 * Writes the content of a disk to the compressed file of an image, if that file does not exist. No QEMU may use the
 * disk. `to` appears only when it is complete and on disk.
 */
export async function exportDisk({ from, to, uid, signal }: Copy): Promise<void> {
  if (await exists(to)) return;
  await drafted(to, async (draft) => {
    await createEmptyFile(draft, uid);
    const limits = { uid, file_bytes_max: COPY_BYTES_MAX, processor_s_max: COPY_PROCESSOR_S_MAX };
    const compressed = ["-c", "-o", "compression_type=zstd"];
    const argv = ["qemu-img", "convert", "-f", "qcow2", "-O", "qcow2", ...compressed, from, draft];
    await runUnprivileged(argv, { ...limits, limit_ms: COPY_LIMIT_MS, signal });
  });
}

/** Creates a disk from the file of a prepared image, which refers to no other file. */
export async function copyImage({ from, to, uid, signal }: Copy, size_bytes: number): Promise<void> {
  await drafted(to, async (draft) => {
    // The function copyFile of node:fs cannot be stopped.
    await runProgram(["cp", "--reflink=auto", from, draft], { limit_ms: COPY_LIMIT_MS, signal });
    await chmod(draft, OWNER_ONLY);
    await chown(draft, uid, uid);
    await growDisk(draft, size_bytes, uid);
  });
}

/** Writes a draft beside `to`. The draft gets the name `to` when it is complete and on disk. A failure removes it. */
async function drafted(to: string, write: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${to}.new`;
  await rm(draft, { force: true });
  try {
    await write(draft);
    await renameDurably(draft, to);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Removes a file, and its draft if a killed agent left one. */
export async function removeDrafted(path: string): Promise<void> {
  for (const each of [path, `${path}.new`]) await rm(each, { force: true });
}

/** Creates an empty file of the VM's user, because this user cannot create files in the folder. */
async function createEmptyFile(path: string, uid: number): Promise<void> {
  const file = await open(path, "wx", OWNER_ONLY);
  try {
    await file.chown(uid, uid);
  } finally {
    await file.close();
  }
}

/** Links a base image into the VM's folder, if it has none. */
export async function linkBase(places: VmPlaces, image_path: string): Promise<void> {
  if (!await exists(places.base)) await link(image_path, places.base);
}

/**
 * Grows the file of a disk that no QEMU uses. The program runs as the VM's user: a QEMU that a guest took over may have
 * written the name of another file into the disk's header.
 */
export async function growDisk(path: string, size_bytes: number, uid: number): Promise<void> {
  await runUnprivileged(
    ["qemu-img", "resize", "-q", "-f", "qcow2", path, String(size_bytes)],
    { uid, file_bytes_max: DISK_BYTES_MAX, processor_s_max: GROW_PROCESSOR_S_MAX },
  );
}

/** Writes the seed volume, readable only by the VM's user. */
export async function writeSeed({ seed }: VmPlaces, volume: Uint8Array, uid: number): Promise<void> {
  const draft = `${seed}.new`;
  await rm(draft, { force: true });
  const file = await open(draft, "wx", OWNER_READS);
  try {
    await file.writeFile(volume);
    await file.chown(uid, uid);
  } finally {
    await file.close();
  }
  await renameDurably(draft, seed);
}

/** Gives the VM its own copy of the UEFI variables, if it has none. */
export async function createUefiVariables(places: VmPlaces, template: string, uid: number): Promise<void> {
  if (await exists(places.uefi_variables)) return;
  const draft = `${places.uefi_variables}.new`;
  await copyFile(template, draft);
  await chmod(draft, OWNER_ONLY);
  await chown(draft, uid, uid);
  await renameDurably(draft, places.uefi_variables);
}

/** Returns `uefi` for an image without boot code in its first sector: BIOS cannot start it. */
export async function firmwareOf(places: VmPlaces, image_path = places.base): Promise<"bios" | "uefi"> {
  const command = ["qemu-img", "dd", "-f", "qcow2", "-O", "raw", `bs=${SECTOR_BYTES}`, "count=1"];
  const copy = join(places.folder, "first-sector");
  await rm(copy, { force: true });
  await runProgram([...command, `if=${image_path}`, `of=${copy}`]);
  const file = await open(copy, "r");
  try {
    const code = new Uint8Array(BOOT_CODE_BYTES);
    await file.read(code, 0, BOOT_CODE_BYTES, 0);
    return code.some((byte) => byte !== 0) ? "bios" : "uefi";
  } finally {
    await file.close();
    await rm(copy, { force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(() => true, () => false);
}
