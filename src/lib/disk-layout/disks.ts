// Reads the disks in a machine's announced inventory: { "Disks": { "c0t0d0": { "Size in GB": 480 } } }. The inventory
// contains only the name of each disk and its size in whole GB.
import { memberOf, membersOf } from "../text/sysinfo-member.ts";

/**
 * `size_gb` is in whole units of 10^9 bytes. It is 0 if the inventory has no valid size. A disk of size 0 is never
 * used.
 */
export type InventoryDisk = { readonly name: string; readonly size_gb: number };

/** The largest size whose number of bytes is an exact integer in JavaScript. */
const SIZE_GB_MAX = Number.MAX_SAFE_INTEGER / 1e9;

/** Lists the disks in the order of the inventory. Skips a disk with an empty name. Never throws. */
export function disksOf(sysinfo: unknown): InventoryDisk[] {
  return membersOf(memberOf(sysinfo, "Disks"))
    .filter(([name]) => name !== "")
    .map(([name, disk]) => ({ name, size_gb: wholeGb(memberOf(disk, "Size in GB")) }));
}

function wholeGb(size: unknown): number {
  const gb = typeof size === "string" && /^\d{1,15}$/.test(size) ? Number(size) : size;
  return typeof gb === "number" && gb >= 0 && gb <= SIZE_GB_MAX ? Math.floor(gb) : 0;
}
