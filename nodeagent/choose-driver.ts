// Chooses and opens the driver of this machine.
import type { Environment } from "../cli/internal/environment.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import type { Driver } from "./driver.ts";
import { kernelNetwork } from "./network/kernel.ts";
import { ROUTER_PREFIX } from "./network/names.ts";
import { raiseNeighbourLimits } from "./network/neighbour-limits.ts";
import type { NetworkDriver } from "./network/network-driver.ts";
import { guestServices } from "./network/guests/guest-process.ts";
import { unavailableNetwork } from "./network/unavailable.ts";
import { checkMachine } from "./qemu/check-machine.ts";
import type { Folders } from "./qemu/folders.ts";
import { hasMachineFile } from "./qemu/machine-file.ts";
import type { OwnInstances } from "./qemu/start-fence.ts";
import { qemuDriver } from "./qemu/qemu-driver.ts";
import { simulatedDriver } from "./simulated-driver.ts";

/**
 * `auto` is QEMU if the machine can run it, and otherwise simulated. On a node that ran with QEMU, `auto` never chooses
 * simulated: a simulated driver would report VMs as running that do not run.
 */
export const DRIVERS = ["auto", "qemu", "simulated"] as const;
export type DriverName = (typeof DRIVERS)[number];

export type DriverOptions = {
  readonly name: DriverName;
  readonly state_dir: string;
  readonly folders: Folders;
  readonly server_uuid: string | undefined;
  readonly hostname: string | undefined;
  /** Fraction of the disk that stays free. */
  readonly disk_reserve: number;
  readonly nic_tags: readonly string[];
  /** The node's IPv4 address on the underlay; null if it has none. */
  readonly underlay_address: string | null;
  readonly environment: Environment;
  /** Asks the control plane for the ids of this node's instances. After a boot, only their VMs may start. */
  readonly ownInstances: OwnInstances;
  log(line: string): void;
};

/** Opens the driver. Throws a Failure if the machine lacks something for QEMU, and QEMU was chosen or ran before. */
export async function chooseDriver(options: DriverOptions): Promise<Driver> {
  if (options.name === "simulated") return await simulatedDriver(options);
  const lacking = (await checkMachine(options.folders)).filter(({ severity }) => severity === "missing");
  if (lacking.length === 0) {
    options.log("driver: qemu");
    const { folders: { machine_dir }, environment: { signal }, log } = options;
    if (options.underlay_address !== null) await raiseNeighbourLimits(log);
    const guest_services = guestServices({ machine_dir, signal, log });
    if (guest_services === null) {
      log("network: no DHCP, DNS or metadata for guests, because this agent is not compiled");
    }
    return await qemuDriver({ ...options, network_driver: networkDriverOf(options), guest_services });
  }
  const reasons = lacking.map(({ subject }) => subject).join(", ");
  if (options.name === "qemu" || hasMachineFile(options.state_dir)) {
    throw new Failure(`this machine cannot run VMs: ${reasons}; run nodeagent check`, EXIT.failure);
  }
  options.log(`driver: simulated, because this machine cannot run VMs: ${reasons}`);
  return await simulatedDriver(options);
}

function networkDriverOf({ underlay_address }: DriverOptions): NetworkDriver {
  if (underlay_address === null) {
    return unavailableNetwork("this node has no IPv4 address on the underlay; set --underlay-address");
  }
  return kernelNetwork({ host_namespace: null, prefix: ROUTER_PREFIX, underlay_address });
}
