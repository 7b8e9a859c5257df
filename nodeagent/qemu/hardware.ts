// Reads the inventory and the capacity of this machine from Linux.
import { readdir, readFile, readlink, realpath, stat, statfs } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { CapacityReportBody } from "../../src/contract/agent.ts";
import { INSTANCE_POOL } from "../../src/contract/limits.ts";

/** Folders from which the inventory is read; a test gives others. */
export type SystemFolders = { readonly proc: string; readonly sys: string };
export const SYSTEM_FOLDERS: SystemFolders = { proc: "/proc", sys: "/sys" };

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const GB = 1_000_000_000;
/** Linux counts the sizes of block devices in sectors of this size, even if the disk has larger sectors. */
const SECTOR_BYTES = 512;
/** Device names of physical disks. Other block devices are partitions, loops, memory or optical drives. */
const PHYSICAL_DISK = /^(?:sd[a-z]+|vd[a-z]+|xvd[a-z]+|nvme[0-9]+n[0-9]+|mmcblk[0-9]+)$/;

export type Processors = { readonly cores: number; readonly threads: number };

/**
 * Counts cores and threads in /proc/cpuinfo. Virtual machines often do not show cores; then each thread counts as a
 * core.
 */
export function processorsOf(cpuinfo: string): Processors {
  const blocks = cpuinfo.split(/\n\n+/).filter((block) => /^processor\s*:/m.test(block));
  const field = (block: string, name: string) => new RegExp(`^${name}\\s*:\\s*(\\S+)`, "m").exec(block)?.[1];
  const cores = new Set(blocks.map((block, index) => {
    const core = field(block, "core id");
    return core === undefined ? `thread ${index}` : `${field(block, "physical id") ?? 0}/${core}`;
  }));
  return { cores: cores.size, threads: blocks.length };
}

/** Reads a field of /proc/meminfo in bytes; 0 if it is missing. */
export function memoryOf(meminfo: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s*([0-9]+) kB`, "m").exec(meminfo)?.[1] ?? 0) * KIB;
}

/** The busy ticks and all ticks of the processors together since the boot, from /proc/stat. */
export type Ticks = { readonly busy: number; readonly all: number };

export function ticksOf(stat: string): Ticks {
  const fields = /^cpu\s+(.*)$/m.exec(stat)?.[1]?.trim().split(/\s+/).map(Number) ?? [];
  // Guest time is contained in user time, so only the first eight fields count.
  const all = fields.slice(0, 8).reduce((sum, ticks) => sum + ticks, 0);
  const [, , , idle = 0, io_wait = 0] = fields;
  return { busy: all - idle - io_wait, all };
}

/** Returns the busy fraction between two readings, 0 to 1. */
export function utilization(before: Ticks, after: Ticks): number {
  const all = after.all - before.all;
  return all <= 0 ? 0 : Math.min(1, Math.max(0, (after.busy - before.busy) / all));
}

/** Reads the inventory, in the form of SmartOS's tool sysinfo. */
export async function readSysinfo(server_uuid: string, host: string, folders = SYSTEM_FOLDERS): Promise<object> {
  const { cores, threads } = processorsOf(await readFile(join(folders.proc, "cpuinfo"), "utf8"));
  const meminfo = await readFile(join(folders.proc, "meminfo"), "utf8");
  const dmi = (name: string) => readLine(join(folders.sys, "class/dmi/id", name));
  return {
    UUID: server_uuid,
    Hostname: host,
    Manufacturer: await dmi("sys_vendor") ?? "unknown",
    Product: await dmi("product_name") ?? "unknown",
    "Serial Number": await dmi("product_serial") ?? "",
    "Live Image": await platformOf(folders),
    "CPU Core Count": cores,
    "CPU Count": threads,
    "MiB of Memory": Math.floor(memoryOf(meminfo, "MemTotal") / MIB),
    Disks: Object.fromEntries(
      (await readDisks(folders)).map(({ name, size_bytes }) => [name, { "Size in GB": Math.round(size_bytes / GB) }]),
    ),
    "Network Interfaces": await readInterfaces(folders),
  };
}

export type CapacityOptions = {
  readonly machine_dir: string;
  /** The memory that VMs may use, and the memory that they use now. */
  readonly memory: { readonly total_bytes: number; readonly used_bytes: number };
  /** Fraction of the file system to keep free, because the disks of VMs take space only when they are written. */
  readonly disk_reserve: number;
  readonly cpu_utilization: number;
  readonly nic_tags: readonly string[];
};

export async function readCapacity(options: CapacityOptions, folders = SYSTEM_FOLDERS): Promise<CapacityReportBody> {
  const cpuinfo = await readFile(join(folders.proc, "cpuinfo"), "utf8");
  const { cores, threads } = processorsOf(cpuinfo);
  const { blocks, bavail, bsize } = await statfs(options.machine_dir);
  const reserve_bytes = Math.floor(blocks * bsize * options.disk_reserve);
  const ram_total_mb = Math.floor(options.memory.total_bytes / MIB);
  const used_mb = Math.ceil(options.memory.used_bytes / MIB);
  return {
    cpu_cores_physical: cores,
    cpu_threads_logical: threads,
    numa_nodes: await readNumaNodes({ cores, ram_mb: ram_total_mb }, folders),
    ram_total_mb,
    ram_available_mb: Math.max(0, ram_total_mb - used_mb),
    cpu_utilization_pct: options.cpu_utilization,
    zpools: [{
      name: INSTANCE_POOL,
      total_bytes: Math.max(0, blocks * bsize - reserve_bytes),
      free_bytes: Math.max(0, bavail * bsize - reserve_bytes),
      tier: await tierOf(options.machine_dir, folders),
    }],
    nic_tags: [...options.nic_tags],
    underlay: { ipv4: true, ipv6: false },
    devices: [],
    platform_version: await platformOf(folders),
    // True even without KVM, because QEMU then emulates the processor.
    hvm_supported: true,
    cpu_features: /^flags\s*:\s*(.*)$/m.exec(cpuinfo)?.[1]?.split(" ") ?? [],
  };
}

/** Returns the machine's UUID from its firmware; null if the firmware has none or it cannot be read. */
export async function readFirmwareUuid(folders = SYSTEM_FOLDERS): Promise<string | null> {
  return (await readLine(join(folders.sys, "class/dmi/id/product_uuid")))?.toLowerCase() ?? null;
}

export function ownHostname(): string {
  return hostname().split(".")[0]!;
}

/** Returns the kind of disk below a folder; `mixed` if Linux does not show the kind, for example of several disks. */
async function tierOf(folder: string, { sys }: SystemFolders): Promise<"ssd" | "nvme" | "hdd" | "mixed"> {
  const { dev } = await stat(folder);
  // Linux's encoding of a device number: 12 bits of the major number between the parts of the minor number.
  const device = `${dev >>> 8 & 0xfff}:${(dev >>> 12 & 0xfff00) | (dev & 0xff)}`;
  const block = await realpath(join(sys, "dev/block", device)).catch(() => null);
  if (block === null) return "mixed";
  const rotates = await readLine(join(block, "queue/rotational")) ?? await readLine(join(block, "../queue/rotational"));
  if (rotates === null) return "mixed";
  if (rotates === "1") return "hdd";
  return block.includes("/nvme") ? "nvme" : "ssd";
}

type PhysicalDisk = { readonly name: string; readonly size_bytes: number };

export async function readDisks({ sys } = SYSTEM_FOLDERS): Promise<readonly PhysicalDisk[]> {
  const names = (await readdir(join(sys, "block")).catch(() => [])).filter((name) => PHYSICAL_DISK.test(name)).sort();
  return await Promise.all(names.map(async (name) => ({
    name,
    size_bytes: Number(await readLine(join(sys, "block", name, "size")) ?? 0) * SECTOR_BYTES,
  })));
}

async function readInterfaces({ sys }: SystemFolders): Promise<object> {
  const names = await readdir(join(sys, "class/net")).catch(() => []);
  const found = await Promise.all(
    names.sort().map(async (name) => {
      // Only a physical card has a device; bridges, taps and tunnels do not.
      const device = await readlink(join(sys, "class/net", name, "device")).catch(() => null);
      const mac = await readLine(join(sys, "class/net", name, "address"));
      if (device === null || mac === null) return [];
      const state = await readLine(join(sys, "class/net", name, "operstate"));
      return [[name, { "MAC Address": mac, "Link Status": state === "up" ? "up" : "down", "NIC Names": [] }] as const];
    }),
  );
  return Object.fromEntries(found.flat());
}

async function readNumaNodes(whole: { readonly cores: number; readonly ram_mb: number }, { sys }: SystemFolders) {
  const folder = join(sys, "devices/system/node");
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^node[0-9]+$/.test(name)).sort();
  const nodes = names.length === 0 ? ["node0"] : names;
  return nodes.map((name) => ({
    node_id: Number(name.slice("node".length)),
    cores: Math.floor(whole.cores / nodes.length),
    ram_mb: Math.floor(whole.ram_mb / nodes.length),
  }));
}

/** Returns the platform's stamp: the kernel's release. An image may require a minimum; stamps are compared as text. */
async function platformOf({ proc }: SystemFolders): Promise<string> {
  return await readLine(join(proc, "sys/kernel/osrelease")) ?? "unknown";
}

/** Returns the trimmed text of a file; null if it is empty or cannot be read. */
export async function readLine(path: string): Promise<string | null> {
  const text = (await readFile(path, "utf8").catch(() => "")).trim();
  return text === "" ? null : text;
}
