// The driver of a Linux machine that runs VMs with QEMU. docs/nodes.md, "Machines with QEMU".
import { mkdir, readFile } from "node:fs/promises";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure, usageFailure } from "../../cli/internal/failure.ts";
import type { Environment } from "../../cli/internal/environment.ts";
import type { Driver } from "../driver.ts";
import { vmStatus } from "../vm-status.ts";
import { makeBaseImage, removeUnfinishedBases } from "./base-image.ts";
import { type Folders, imageFolder, placesOf, SOCKET_PATH_BYTES_MAX } from "./folders.ts";
import {
  ownHostname,
  readCapacity,
  readDisks,
  readFirmwareUuid,
  readSysinfo,
  ticksOf,
  utilization,
} from "./hardware.ts";
import { detectHost, type Host } from "./host.ts";
import { openMachineFile } from "./machine-file.ts";
import { admitMemory, memoryBudget, memoryInUse, physicalMemory } from "./memory-budget.ts";
import { writeRootKeys } from "./root-keys.ts";
import { createVmPower } from "./vm-power.ts";
import { reportedState } from "./vm-record.ts";
import { openVmStore } from "./vm-store.ts";
import { qemuVms } from "./vms.ts";

export type QemuOptions = {
  readonly state_dir: string;
  readonly folders: Folders;
  readonly server_uuid: string | undefined;
  readonly hostname: string | undefined;
  readonly disk_reserve: number;
  readonly nic_tags: readonly string[];
  readonly environment: Environment;
  readonly log: (line: string) => void;
  /** Replaces parts of this machine in tests. */
  readonly host?: Partial<Host>;
};

/** UUIDs of mainboards without an identity: only zeros or only Fs. */
const NO_IDENTITY = /^(?:0|f|-)+$/i;
/** An id of the length of all ids. */
const NO_INSTANCE = "00000000-0000-0000-0000-000000000000";
const OPEN_FOLDER = 0o711;

/** Opens the machine and finds the VMs that run. Throws a Failure if the machine cannot run VMs at all. */
export async function qemuDriver(options: QemuOptions): Promise<Driver> {
  const { folders, environment, log } = options;
  checkRunFolder(folders);
  const host: Host = { ...await detectHost({ folders, signal: environment.signal, log }), ...options.host };
  const machine = await openMachineFile(options.state_dir, () => identityOf(options));
  const { server_uuid } = machine.read();
  if (options.server_uuid !== undefined && options.server_uuid.toLowerCase() !== server_uuid) {
    throw usageFailure(`--server-uuid differs from ${server_uuid} in ${options.state_dir}; use another --state-dir`);
  }
  for (const folder of [folders.machine_dir, folders.run_dir]) {
    await mkdir(folder, { recursive: true, mode: OPEN_FOLDER });
  }
  await mkdir(imageFolder(folders), { recursive: true, mode: 0o700 });
  await removeUnfinishedBases(imageFolder(folders));
  const physical_bytes = await physicalMemory();
  const budget = () => memoryBudget(physical_bytes, machine.read().reservoir);
  const store = await openVmStore(folders, log);
  const power = createVmPower({ host, store, admit: (vm) => admitMemory(vm, store.all(), budget()) });
  await power.recover();
  const hostname = options.hostname ?? ownHostname();
  const boot_time = bootTime(await readFile("/proc/stat", "utf8"));
  let ticks = ticksOf(await readFile("/proc/stat", "utf8"));

  return {
    hardware: async () => ({
      server_uuid,
      hostname,
      admin_ip: null,
      sysinfo: await readSysinfo(server_uuid, hostname),
    }),
    status: async () => {
      const { addresses, reservoir } = machine.read();
      const vms = Object.fromEntries(
        store.all().map((vm) => {
          const state = reportedState(vm);
          return [vm.id, {
            ...vmStatus({ ...vm, uuid: vm.id, alias: vm.name, state }),
            reason: vm.end?.reason ?? null,
          }];
        }),
      );
      const pools = { zones: { status: "ONLINE", health: "healthy" } };
      const disks = (await readDisks()).map(({ name, size_bytes }) => ({
        name,
        size_gb: Math.round(size_bytes / 1e9),
      }));
      const memory = { total_mb: Math.floor(physical_bytes / 2 ** 20) };
      return { vms, addresses, pools, disks, boot_time, reservoir, memory };
    },
    capacity: async () => {
      const before = ticks;
      ticks = ticksOf(await readFile("/proc/stat", "utf8"));
      return await readCapacity({
        machine_dir: folders.machine_dir,
        memory: { total_bytes: budget(), used_bytes: memoryInUse(store.all()) },
        disk_reserve: options.disk_reserve,
        cpu_utilization: utilization(before, ticks),
        nic_tags: options.nic_tags,
      });
    },
    applyReservoir: async (reservoir) => {
      await machine.change({ reservoir });
      await host.supervisor.limitMemory(reservoir.enabled ? budget() : null);
    },
    applyRootKeys: (keys) => writeRootKeys(keys, environment.home_dir),
    vms: qemuVms({
      host,
      store,
      power,
      bindings: { read: () => machine.read().addresses, write: (addresses) => machine.change({ addresses }) },
    }),
    images: { folder: imageFolder(folders), prepare: makeBaseImage },
    console: (id) => power.monitor(id)?.console,
    beforeStep: () => Promise.resolve(),
  };
}

/** Throws a usage Failure if the folder's name is so long that sockets in it cannot have an address. */
function checkRunFolder(folders: Folders): void {
  const longest = placesOf(folders, NO_INSTANCE).socket("console").length;
  if (longest <= SOCKET_PATH_BYTES_MAX) return;
  throw usageFailure(
    `--run-dir ${folders.run_dir} is ${longest - SOCKET_PATH_BYTES_MAX} characters too long for sockets`,
  );
}

async function identityOf({ server_uuid }: QemuOptions): Promise<string> {
  const id = server_uuid?.toLowerCase() ?? await readFirmwareUuid();
  if (id !== null && !NO_IDENTITY.test(id)) return id;
  throw new Failure("this machine's firmware has no UUID; choose one with --server-uuid", EXIT.usage);
}

/** Reads the time of the node's boot from /proc/stat, in RFC 3339. */
function bootTime(stat: string): string {
  return new Date(Number(/^btime ([0-9]+)$/m.exec(stat)?.[1] ?? 0) * 1_000).toISOString();
}
