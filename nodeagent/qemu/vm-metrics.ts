// Reads the counters of running VMs. The process of QEMU shows the processor time and the memory, the monitor shows the
// bytes of the disks, and the taps show the bytes of the NICs. A tap is in the router of its VPC, or still in QEMU's
// network namespace. No program is started for each VM, since a node may have a hundred VMs.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { MachineMetrics } from "../../src/contract/instance-metrics.ts";
import type { TapBytes } from "../network/network-driver.ts";
import { processesOf } from "./processes.ts";
import type { BlockStatistics } from "./qmp-messages.ts";
import type { VmMonitor } from "./vm-monitor.ts";
import type { VmRecord } from "./vm-record.ts";

const PROC = "/proc";
/** Linux shows processor times in this unit on every machine. */
const TICKS_PER_SECOND = 100;
/** The size of a page of memory on x86. */
const PAGE_BYTES = 4_096;
/** A QEMU that does not answer within this time has no sample. */
const ANSWER_LIMIT_MS = 5_000;
/** The block nodes of the guest's disks; the other nodes are their files, and the seed. */
const DISK_NODE = /^(?:disk[0-9]+|data-[0-9a-f]+)$/;

export type MetricsPorts = {
  readonly vms: () => readonly VmRecord[];
  readonly monitor: (id: string) => VmMonitor | undefined;
  /** Returns the bytes of the taps in routers, by MAC. */
  readonly tapBytes: () => Promise<ReadonlyMap<string, TapBytes>>;
};

/** Returns the function `metrics` of a driver. */
export function createVmMetrics(
  { vms, monitor, tapBytes }: MetricsPorts,
): () => Promise<Record<string, MachineMetrics>> {
  // To find a process, all processes must be read. So the process is remembered as long as its monitor is connected.
  const pids = new WeakMap<VmMonitor, number>();

  async function read(
    vm: VmRecord,
    routed: ReadonlyMap<string, TapBytes>,
  ): Promise<readonly (readonly [string, MachineMetrics])[]> {
    const followed = monitor(vm.id);
    if (followed === undefined || vm.power !== "on") return [];
    try {
      const pid = pids.get(followed) ?? (await processesOf(vm))[0];
      if (pid === undefined) return [];
      pids.set(followed, pid);
      const file = (name: string) => readFile(join(PROC, String(pid), name), "utf8");
      const [stat, devices, blocks] = await Promise.all([
        file("stat"),
        file("net/dev"),
        followed.qmp.execute("query-blockstats", {}, ANSWER_LIMIT_MS),
      ]);
      const network = networkUse(vm.nics, devices, routed);
      return network === null ? [] : [[vm.id, { ...processUse(stat), ...diskUse(blocks), ...network }]];
    } catch {
      return []; // QEMU ended meanwhile, or does not answer.
    }
  }

  return async () => {
    const routed = await tapBytes();
    return Object.fromEntries((await Promise.all(vms().map((vm) => read(vm, routed)))).flat());
  };
}

/** Reads the processor time and the memory of a process from the text of /proc/PID/stat. */
export function processUse(stat: string): Pick<MachineMetrics, "cpu_seconds" | "memory_bytes"> {
  // The second field is the name in parentheses, which may contain spaces. The next field has the number 3 in proc(5).
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ").map(Number);
  const field = (number: number) => fields[number - 3] ?? 0;
  return { cpu_seconds: (field(14) + field(15)) / TICKS_PER_SECOND, memory_bytes: field(24) * PAGE_BYTES };
}

/** Sums the bytes of the guest's disks. */
export function diskUse(
  blocks: readonly BlockStatistics[],
): Pick<MachineMetrics, "disk_read_bytes" | "disk_written_bytes"> {
  const disks = blocks.filter((block) => DISK_NODE.test(block["node-name"] ?? ""));
  return {
    disk_read_bytes: sum(disks.map(({ stats }) => stats.rd_bytes)),
    disk_written_bytes: sum(disks.map(({ stats }) => stats.wr_bytes)),
  };
}

/**
 * Sums the bytes of the VM's taps, which are in /proc/PID/net/dev or in routers. The guest sent the bytes that a tap
 * received. A tap is missing if a router was not read, or if the tap moved meanwhile. Then returns null: the server
 * would interpret a smaller sum as a restart of the VM, and would count all bytes again at the next sample.
 * @param devices the text of /proc/PID/net/dev
 * @param routed the bytes of the taps in routers, by MAC
 */
export function networkUse(
  nics: readonly { readonly mac: string }[],
  devices: string,
  routed: ReadonlyMap<string, TapBytes>,
): Pick<MachineMetrics, "network_received_bytes" | "network_sent_bytes"> | null {
  const own = [...devices.matchAll(/^ *t[0-9a-f]{12}:(.*)$/gm)].map(([, line = ""]): TapBytes => {
    const columns = line.trim().split(/\s+/).map(Number);
    // The first eight columns are about received packets.
    return { received: columns[0] ?? 0, sent: columns[8] ?? 0 };
  });
  const taps = [...own, ...nics.flatMap(({ mac }) => routed.get(mac.toLowerCase()) ?? [])];
  if (taps.length < nics.length) return null;
  return {
    network_sent_bytes: sum(taps.map(({ received }) => received)),
    network_received_bytes: sum(taps.map(({ sent }) => sent)),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
