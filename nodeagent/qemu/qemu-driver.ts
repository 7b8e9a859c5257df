// Implements the driver of a Linux machine that runs VMs with QEMU. docs/nodes.md, "Machines with QEMU".
import { chmod, mkdir, readFile } from "node:fs/promises";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure, usageFailure } from "../../cli/internal/failure.ts";
import type { Environment } from "../../cli/internal/environment.ts";
import type { Driver } from "../driver.ts";
import { notRunning } from "../not-running.ts";
import { documentsFolder, openDocumentStore } from "../network/document-store.ts";
import type { NetworkDriver } from "../network/network-driver.ts";
import { createNodeNetwork } from "../network/node-network.ts";
import { simulatedNetwork } from "../network/simulated.ts";
import type { GuestServices } from "../network/guests/guest-process.ts";
import { underlayRegistration } from "../network/underlay-address.ts";
import { MOVING, vmStatus } from "../vm-status.ts";
import { makeBaseImage, removeUnfinishedBases } from "./base-image.ts";
import { type Folders, imageFolder, placesOf, SOCKET_PATH_BYTES_MAX } from "./folders.ts";
import { createGuestAddresses } from "./guest-addresses.ts";
import { guestAgentAt } from "./guest-agent.ts";
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
import {
  admitMemory,
  limitedSupervisor,
  memoryBudget,
  memoryInUse,
  physicalMemory,
  sliceLimit,
} from "./memory-budget.ts";
import { readPools } from "./pools.ts";
import { bootedImage, reboot } from "./reboot.ts";
import { writeRootKeys } from "./root-keys.ts";
import { holdForeignVms, type OwnInstances } from "./start-fence.ts";
import { takeScreenshot } from "./screenshot.ts";
import { qemuArrivals } from "./vm-arrival.ts";
import { qemuDepartures } from "./vm-departure.ts";
import { createVmMetrics } from "./vm-metrics.ts";
import { createVmPower } from "./vm-power.ts";
import { reportedState, type VmRecord } from "./vm-record.ts";
import { openVmStore } from "./vm-store.ts";
import { qemuVms } from "./vms.ts";

export type QemuOptions = {
  readonly state_dir: string;
  readonly folders: Folders;
  readonly server_uuid: string | undefined;
  readonly hostname: string | undefined;
  readonly disk_reserve: number;
  readonly nic_tags: readonly string[];
  readonly underlay_address?: string | null;
  readonly environment: Environment;
  readonly log: (line: string) => void;
  /** Without `ownInstances`, every VM that ran before a boot of the node starts again. */
  readonly ownInstances?: OwnInstances;
  /** Builds the routers of VPCs; by default none are built. */
  readonly network_driver?: NetworkDriver;
  readonly guest_services?: GuestServices | null;
  /** Replaces parts of this machine in tests. */
  readonly host?: Partial<Host>;
};

/** UUIDs of mainboards without an identity: they consist of zeros and Fs. */
const NO_IDENTITY = /^(?:0|f|-)+$/i;
/** A substitute for an instance's id where only its length matters. */
const NO_INSTANCE = "00000000-0000-0000-0000-000000000000";
const OPEN_FOLDER = 0o711;

/**
 * Opens the stored state of the machine, applies its networks again and recovers its VMs. Throws a Failure if the
 * stored state is damaged or belongs to another UUID, if the machine has no UUID, or if the paths of sockets would be
 * too long.
 */
export async function qemuDriver(options: QemuOptions): Promise<Driver> {
  const { folders, environment, log } = options;
  checkRunFolder(folders);
  const found: Host = { ...await detectHost({ folders, signal: environment.signal, log }), ...options.host };
  const machine = await openMachineFile(options.state_dir, () => identityOf(options));
  const { server_uuid } = machine.read();
  if (options.server_uuid !== undefined && options.server_uuid.toLowerCase() !== server_uuid) {
    throw usageFailure(`--server-uuid differs from ${server_uuid} in ${options.state_dir}; use another --state-dir`);
  }
  for (const folder of [folders.machine_dir, folders.run_dir]) {
    const is_new = await mkdir(folder, { recursive: true, mode: OPEN_FOLDER }) !== undefined;
    // The umask of the agent's unit removes permissions from a new folder, so QEMU's users could not enter the folder.
    if (is_new) await chmod(folder, OPEN_FOLDER);
  }
  await mkdir(imageFolder(folders), { recursive: true, mode: 0o700 });
  await removeUnfinishedBases(imageFolder(folders));
  const physical_bytes = await physicalMemory();
  const budget = () => memoryBudget(physical_bytes, machine.read().reservoir);
  const store = await openVmStore(folders, log);
  const supervisor = limitedSupervisor(
    found.supervisor,
    () => machine.read().reservoir.enabled ? sliceLimit(store.all(), budget()) : null,
  );
  const host: Host = { ...found, supervisor };
  const network = createNodeNetwork({
    driver: options.network_driver ?? simulatedNetwork(),
    store: await openDocumentStore(documentsFolder(options.state_dir), log),
    log,
    services: options.guest_services ?? null,
    monotonicMs: environment.monotonicMs,
  });
  // The routers must exist before recover() starts VMs. They are missing after a boot of the node.
  await network.restore();
  const { boot_id } = host;
  const admit = (vm: VmRecord) => admitMemory(vm, { all: store.all(), budget_bytes: budget(), boot_id });
  const power = createVmPower({ host, store, network, admit });
  const hostname = options.hostname ?? ownHostname();
  const hardware = async () => ({
    server_uuid,
    hostname,
    admin_ip: null,
    sysinfo: await readSysinfo(server_uuid, hostname),
    ...await underlayRegistration(options.underlay_address ?? null),
  });
  const { ownInstances } = options;
  if (ownInstances !== undefined) {
    await holdForeignVms({ store, boot_id, ownInstances: () => ownInstances(hardware), log });
  }
  await power.recover();
  const readMetrics = createVmMetrics({ vms: store.all, monitor: power.monitor, tapBytes: network.tapBytes });
  const guests = createGuestAddresses({
    agentOf: (id) => guestAgentAt(placesOf(folders, id).socket("qga")),
    monotonicMs: environment.monotonicMs,
  });
  const vms = qemuVms({
    host,
    store,
    power,
    network,
    bindings: { change: (next) => machine.change(({ addresses }) => ({ addresses: next(addresses) })) },
  });
  const moves = { host, store, power, vms };
  const boot = {
    boot_time: bootTime(await readFile("/proc/stat", "utf8")),
    boot_id,
    platform_image: await bootedImage(),
  };
  let ticks = ticksOf(await readFile("/proc/stat", "utf8"));

  return {
    hardware,
    status: async () => {
      const { addresses, reservoir } = machine.read();
      const vms = Object.fromEntries(
        store.all().map((vm) => {
          const state = vm.move ? MOVING : reportedState(vm);
          return [vm.id, {
            ...vmStatus({ ...vm, uuid: vm.id, alias: vm.name, state }),
            reason: vm.end?.reason ?? null,
            guest_interfaces: guests.of(vm.id),
          }];
        }),
      );
      const pools = await readPools();
      const disks = (await readDisks()).map(({ name, size_bytes }) => ({
        name,
        size_gb: Math.round(size_bytes / 1e9),
      }));
      const memory = { total_mb: Math.floor(physical_bytes / 2 ** 20) };
      return { vms, addresses, pools, disks, ...boot, reservoir, memory, network: network.status() };
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
    metrics: async () => {
      guests.refresh(store.all().filter((vm) => vm.power === "on").map(({ id }) => id));
      return await readMetrics();
    },
    applyReservoir: async (reservoir) => {
      await machine.change(() => ({ reservoir }));
      await supervisor.applyLimit();
    },
    applyRootKeys: (keys) => writeRootKeys(keys, environment.home_dir),
    vms,
    migrations: { ...qemuArrivals(moves), ...qemuDepartures(moves) },
    network,
    images: { folder: imageFolder(folders), prepare: makeBaseImage },
    console: power.console,
    screenshot: async (id) => {
      const [vm, monitor] = [store.get(id), power.monitor(id)];
      if (vm?.power !== "on" || monitor === undefined) throw notRunning();
      const { output_folder } = placesOf(folders, id);
      return await takeScreenshot(monitor.qmp, { output_folder, uid: vm.uid });
    },
    reboot: (wanted) => reboot({ store, boot_id }, wanted),
    beforeStep: () => Promise.resolve(),
  };
}

/** Throws a usage Failure if the paths of sockets in the run folder would be longer than Linux allows. */
function checkRunFolder(folders: Folders): void {
  const longest = placesOf(folders, NO_INSTANCE).socket("console").length;
  if (longest <= SOCKET_PATH_BYTES_MAX) return;
  throw usageFailure(
    `--run-dir ${folders.run_dir} is ${longest - SOCKET_PATH_BYTES_MAX} characters too long for the paths of sockets`,
  );
}

async function identityOf({ server_uuid }: QemuOptions): Promise<string> {
  const id = server_uuid?.toLowerCase() ?? await readFirmwareUuid();
  if (id !== null && !NO_IDENTITY.test(id)) return id;
  throw new Failure("this machine's firmware has no valid UUID; set one with --server-uuid", EXIT.usage);
}

/** Returns the time of the node's boot in RFC 3339, from the text of /proc/stat. */
function bootTime(stat: string): string {
  return new Date(Number(/^btime ([0-9]+)$/m.exec(stat)?.[1] ?? 0) * 1_000).toISOString();
}
