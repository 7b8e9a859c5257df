// Implements the driver of a simulated machine. The machine is stored in a file, so that it keeps its identity across
// restarts.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure, usageFailure } from "../cli/internal/failure.ts";
import { plainText } from "../cli/internal/plain-text.ts";
import { readPrivateFile, writeFileDurably } from "../cli/internal/private-file.ts";
import type { Environment } from "../cli/internal/environment.ts";
import type { Driver, Reservoir } from "./driver.ts";
import { simulatedScreen } from "./console/simulated-screen.ts";
import { documentsFolder, openDocumentStore } from "./network/document-store.ts";
import { createNodeNetwork } from "./network/node-network.ts";
import { simulatedNetwork } from "./network/simulated.ts";
import { underlayRegistration } from "./network/underlay-address.ts";
import { simulatedConsoles } from "./console/simulated-console.ts";
import { simulatedMetrics } from "./simulated-metrics.ts";
import { notRunning, vmsRun } from "./not-running.ts";
import { simulatedMigrations } from "./simulated-migrations.ts";
import { simulatedTrouble } from "./simulated-trouble.ts";
import { simulatedVms, type VmInventory } from "./simulated-vms.ts";
import { MOVING, vmStatus } from "./vm-status.ts";

type Machine = {
  readonly server_uuid: string;
  readonly hostname: string;
  readonly boot_time: string;
  readonly boot_id: string;
  readonly platform_image: string;
  readonly disks: readonly { readonly name: string; readonly size_gb: number }[];
  readonly reservoir: Reservoir | null;
  readonly root_authorized_keys: readonly string[];
} & VmInventory;

export type SimulatedOptions = {
  readonly state_dir: string;
  readonly server_uuid: string | undefined;
  readonly hostname: string | undefined;
  readonly underlay_address?: string | null;
  readonly environment: Environment;
};

const RAM_MB = 131_072;
const CORES = 16;
const PLATFORM = "20261001T000000Z";
const DISKS = [{ name: "c0t0d0", size_gb: 480 }, { name: "c0t1d0", size_gb: 4_000 }, {
  name: "c0t2d0",
  size_gb: 4_000,
}];
const GB = 1_000_000_000;

export async function simulatedDriver(options: SimulatedOptions): Promise<Driver> {
  const path = join(options.state_dir, "simulated-machine.json");
  let machine = await loadMachine(path, options);
  let saved: Promise<void> = Promise.resolve();
  /** Saves the machine. Writes run one at a time. Each writes the state that the machine has when it starts. */
  const save = () => {
    const write = () => writeFileDurably(path, `${JSON.stringify(machine, null, 2)}\n`);
    return saved = saved.then(write, write);
  };
  await save();
  const log = (line: string) => options.environment.stderr.write(`${plainText(line)}\n`);
  const network = createNodeNetwork({
    driver: simulatedNetwork(),
    store: await openDocumentStore(documentsFolder(options.state_dir), log),
    log,
    monotonicMs: options.environment.monotonicMs,
  });
  await network.restore();
  const inventory = {
    read: () => machine,
    write: async (change: Partial<VmInventory>) => {
      machine = { ...machine, ...change };
      await save();
    },
  };
  const vms = simulatedVms(inventory, network, options.state_dir);
  return {
    hardware: async () => ({
      server_uuid: machine.server_uuid,
      hostname: machine.hostname,
      admin_ip: null,
      sysinfo: sysinfoOf(machine),
      ...await underlayRegistration(options.underlay_address ?? null),
    }),
    status: () => {
      const { disks, boot_time, boot_id, platform_image, reservoir, addresses } = machine;
      const vms = Object.fromEntries(
        Object.entries(machine.vms).map(([id, vm]) => {
          const { move = null, ...own } = vm;
          return [id, vmStatus({ ...own, state: move === null ? vm.state : MOVING })];
        }),
      );
      const pools = { zones: { status: "ONLINE", health: "healthy" } };
      const boot = { boot_time, boot_id, platform_image };
      return Promise.resolve({ vms, addresses, pools, disks, ...boot, reservoir, memory: { total_mb: RAM_MB } });
    },
    capacity: () => Promise.resolve(capacityOf(machine)),
    metrics: () =>
      Promise.resolve(simulatedMetrics(Object.values(machine.vms).filter(({ move }) => !move), Date.now())),
    applyReservoir: async (reservoir) => {
      machine = { ...machine, reservoir };
      await save();
    },
    applyRootKeys: async (keys) => {
      machine = { ...machine, root_authorized_keys: keys };
      await save();
    },
    vms,
    migrations: simulatedMigrations(inventory, vms),
    network,
    images: null,
    console: simulatedConsoles(() => machine.vms),
    screenshot: (id) =>
      machine.vms[id]?.state === "running" ? Promise.resolve(simulatedScreen()) : Promise.reject(notRunning()),
    reboot: async (boot_id, platform_image) => {
      if (machine.boot_id !== boot_id) return;
      const running = Object.values(machine.vms).filter(({ state }) => state === "running").length;
      if (running > 0) throw vmsRun(running);
      machine = { ...machine, ...newBoot(platform_image) };
      await save();
    },
    beforeStep: simulatedTrouble(options.state_dir, options.environment),
  };
}

async function loadMachine(path: string, options: SimulatedOptions): Promise<Machine> {
  const text = await readPrivateFile(path);
  if (text === null) return newMachine(options);
  const saved = parseMachine(path, text);
  if (options.server_uuid !== undefined && options.server_uuid.toLowerCase() !== saved.server_uuid) {
    throw usageFailure(
      `--server-uuid differs from ${saved.server_uuid} in ${path}; use another --state-dir for another machine`,
    );
  }
  return { ...saved, hostname: options.hostname ?? saved.hostname };
}

function parseMachine(path: string, text: string): Machine {
  try {
    // The file of an older agent lacks keys, addresses and the boot.
    return { root_authorized_keys: [], addresses: {}, ...newBoot(PLATFORM), ...JSON.parse(text) } as Machine;
  } catch {
    throw new Failure(`${path} is damaged; remove it to simulate a new machine`, EXIT.failure);
  }
}

function newMachine({ server_uuid, hostname, environment }: SimulatedOptions): Machine {
  const id = (server_uuid ?? environment.newId()).toLowerCase();
  return {
    server_uuid: id,
    hostname: hostname ?? `sim-${id.slice(0, 8)}`,
    ...newBoot(PLATFORM),
    disks: DISKS,
    vms: {},
    addresses: {},
    reservoir: null,
    root_authorized_keys: [],
  };
}

function newBoot(platform_image: string): Pick<Machine, "boot_time" | "boot_id" | "platform_image"> {
  return { boot_time: new Date().toISOString(), boot_id: randomUUID(), platform_image };
}

/** Returns the inventory in the form of SmartOS's tool sysinfo. */
function sysinfoOf({ server_uuid, hostname, disks, platform_image }: Machine): object {
  const hex = server_uuid.replaceAll("-", "");
  const mac = ["02", ...hex.slice(-10).match(/../g)!].join(":");
  return {
    UUID: server_uuid,
    Hostname: hostname,
    Manufacturer: "Berth",
    Product: "Simulated node",
    "Serial Number": `SIM${hex.slice(-9).toUpperCase()}`,
    "Live Image": platform_image,
    "CPU Core Count": CORES,
    "CPU Count": CORES * 2,
    "MiB of Memory": RAM_MB,
    Disks: Object.fromEntries(disks.map(({ name, size_gb }) => [name, { "Size in GB": size_gb }])),
    "Network Interfaces": { net0: { "MAC Address": mac, "Link Status": "up", "NIC Names": ["admin"] } },
  };
}

function capacityOf({ disks, platform_image }: Machine): Awaited<ReturnType<Driver["capacity"]>> {
  const total_bytes = disks.reduce((sum, { size_gb }) => sum + size_gb * GB, 0);
  return {
    cpu_cores_physical: CORES,
    cpu_threads_logical: CORES * 2,
    numa_nodes: [0, 1].map((node_id) => ({ node_id, cores: CORES / 2, ram_mb: RAM_MB / 2 })),
    ram_total_mb: RAM_MB,
    ram_available_mb: RAM_MB,
    cpu_utilization_pct: 0,
    zpools: [{ name: "zones", total_bytes, free_bytes: total_bytes, tier: "hdd" }],
    nic_tags: ["admin", "external"],
    underlay: { ipv4: true, ipv6: false },
    devices: [],
    platform_version: platform_image,
    hvm_supported: true,
    // All simulated nodes of a machine use its clock.
    tsc_offset_ns: 0,
  };
}
