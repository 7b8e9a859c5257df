// Creates, fills and reads data disks of guests that move between two machines.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Driver } from "../../nodeagent/driver.ts";
import { BOOT, inGuest } from "./machine.ts";

const MIB = 2 ** 20;

export type DataDisk = { readonly id: string; readonly name: string; readonly size_bytes: number; readonly fate: Fate };
/** The state of a data disk when its instance moves. */
type Fate = "attached" | "detached" | "deleted";

export const dataDisk = (fate: Fate): DataDisk => ({ id: randomUUID(), name: fate, size_bytes: 64 * MIB, fate });

/** The name that the guest gives to the disk: /dev/sda, /dev/sdb, ... */
export const deviceOf = ({ id }: DataDisk) =>
  `$(grep -l ${id.slice(0, 8)} /sys/block/sd*/device/vpd_pg80 | cut -d/ -f4)`;

/** Attaches a new data disk to the running guest, and writes the disk's name into its first and its last MiB. */
export async function fill(driver: Driver, id: string, disk: DataDisk): Promise<void> {
  await driver.vms.createDisk(id, disk, { source: null, signal: new AbortController().signal });
  await expect.poll(() => inGuest(driver, id, `echo ${deviceOf(disk)}`), BOOT).toMatch(/^sd[a-z]$/);
  await inGuest(driver, id, writes(disk, disk.name));
}

const LAST_MIB = 63;
export const writes = (disk: DataDisk, text: string) =>
  [0, LAST_MIB].map((at) => `echo ${text} | dd of=/dev/${deviceOf(disk)} bs=1M seek=${at} conv=sync 2>/dev/null`)
    .join("; ") + "; sync";
export const reads = (disk: DataDisk) =>
  [0, LAST_MIB].map((at) => `dd if=/dev/${deviceOf(disk)} bs=1M skip=${at} count=1 2>/dev/null | head -n 1`).join("; ");
