// Reads the inventory of a Linux machine, with the keys of SmartOS's sysinfo, which the control plane reads.
import { readdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { processorsOf } from "../qemu/hardware.ts";

export type InventoryRoots = {
  /** The folder of the kernel's devices, /sys. */
  readonly sys: string;
  readonly proc: string;
};

export const MACHINE_ROOTS: InventoryRoots = { sys: "/sys", proc: "/proc" };

/** A disk of the machine. Layouts and the inventory use only its name and size. */
export type MachineDisk = {
  readonly name: string;
  readonly size_bytes: number;
  readonly solid_state: boolean;
  readonly removable: boolean;
};

/** The kernel counts sizes of disks in units of 512 bytes, even if the disk has larger blocks. */
const SECTOR_BYTES = 512;
const BYTES_PER_GB = 1e9;
/**
 * Block devices that are not disks of the machine: loops, arrays, volumes, memory, network disks, optical and floppy
 * drives.
 */
const NO_DISK = /^(?:loop|md|dm-|ram|zram|sr|fd|nbd|zd)/;

export async function machineDisks({ sys }: InventoryRoots): Promise<readonly MachineDisk[]> {
  const names = (await readdir(join(sys, "block")).catch(() => [])).filter((name) => !NO_DISK.test(name)).sort();
  const disks = await Promise.all(names.map(async (name) => {
    const number = async (file: string) => Number(await textOf(join(sys, "block", name, file)));
    return {
      name,
      size_bytes: await number("size") * SECTOR_BYTES,
      solid_state: await number("queue/rotational") === 0,
      removable: await number("removable") === 1,
    };
  }));
  return disks.filter(({ size_bytes, removable }) => size_bytes > 0 && !removable);
}

/** Returns the machine's UUID, in lower case, as the firmware reports it. */
export async function machineUuid({ sys }: InventoryRoots): Promise<string> {
  return (await textOf(join(sys, "class/dmi/id/product_uuid"))).toLowerCase();
}

export async function sysinfo(roots: InventoryRoots, boot: { hostname: string; platform_stamp: string }) {
  const { sys, proc } = roots;
  const dmi = (name: string) => textOf(join(sys, "class/dmi/id", name));
  const disks = await machineDisks(roots);
  const memory_kib = Number(/^MemTotal:\s+(\d+) kB/m.exec(await textOf(join(proc, "meminfo")))?.[1] ?? 0);
  const { cores, threads } = processorsOf(await textOf(join(proc, "cpuinfo")));
  return {
    "UUID": await machineUuid(roots),
    "Hostname": boot.hostname,
    "System Type": "Linux",
    "Live Image": boot.platform_stamp,
    "Manufacturer": await dmi("sys_vendor"),
    "Product": await dmi("product_name"),
    "Serial Number": await dmi("product_serial"),
    "BIOS Version": await dmi("bios_version"),
    "MiB of Memory": Math.floor(memory_kib / 1024),
    "CPU Core Count": cores,
    "CPU Count": threads,
    "Disks": Object.fromEntries(
      disks.map(({ name, size_bytes }) => [name, { "Size in GB": Math.floor(size_bytes / BYTES_PER_GB) }]),
    ),
    "Network Interfaces": Object.fromEntries(await networkCards(sys)),
  };
}

async function networkCards(sys: string): Promise<[string, Record<string, unknown>][]> {
  const folder = join(sys, "class/net");
  const names = (await readdir(folder).catch(() => [])).sort();
  const cards = await Promise.all(names.map(async (name): Promise<[string, Record<string, unknown>][]> => {
    // A physical card has the entry `device`; bonds, bridges and taps do not.
    if (await realpath(join(folder, name, "device")).catch(() => null) === null) return [];
    const state = await textOf(join(folder, name, "operstate"));
    return [[name, {
      "MAC Address": await textOf(join(folder, name, "address")),
      "Link Status": state === "up" ? "up" : "down",
      "NIC Names": [],
    }]];
  }));
  return cards.flat();
}

/** Returns a file's text without blanks around it; empty if the file is missing. */
async function textOf(path: string): Promise<string> {
  return (await readFile(path, "utf8").catch(() => "")).trim();
}
