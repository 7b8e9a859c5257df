// Chooses and opens the driver of this machine.
import type { Environment } from "../cli/internal/environment.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import type { Driver } from "./driver.ts";
import { checkMachine } from "./qemu/check-machine.ts";
import type { Folders } from "./qemu/folders.ts";
import { qemuDriver } from "./qemu/qemu-driver.ts";
import { simulatedDriver } from "./simulated-driver.ts";

/** `auto` is QEMU where the machine can run it, and simulated elsewhere. */
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
  readonly environment: Environment;
  log(line: string): void;
};

/** Opens the driver. Throws a Failure if QEMU was chosen by name and the machine lacks something for it. */
export async function chooseDriver(options: DriverOptions): Promise<Driver> {
  if (options.name === "simulated") return await simulatedDriver(options);
  const lacking = (await checkMachine(options.folders)).filter(({ severity }) => severity === "missing");
  if (lacking.length === 0) {
    options.log("driver: qemu");
    return await qemuDriver(options);
  }
  const reasons = lacking.map(({ subject }) => subject).join(", ");
  if (options.name === "qemu") {
    throw new Failure(`this machine cannot run VMs: ${reasons}; run nodeagent check`, EXIT.failure);
  }
  options.log(`driver: simulated, because this machine cannot run VMs: ${reasons}`);
  return await simulatedDriver(options);
}
