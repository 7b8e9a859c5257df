// Runs the bare machines of the rack and their BMCs.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { hasVirtualization } from "../../../nodeagent/qemu/host.ts";
import { ROOT } from "../environment.ts";
import { bareQemuArgv } from "./bare-qemu.ts";
import type { BmcSettings } from "./bmc.ts";
import { at, type BareMachine, BMC, DEBIAN, DISK_BYTES, MACHINES, MEMORY_MIB } from "./plan.ts";
import { daemon, type Ended, run, until } from "./processes.ts";

/** The file with the password of the BMCs, in the rack's Debian. */
const PASSWORD_FILE = "/etc/berth/bmc-password";
const START_LIMIT_MS = 60_000;
/** If this machine has few processors, each node gets only one processor, because two nodes boot at the same time. */
const PROCESSORS = availableParallelism() >= 2 * MACHINES.length ? 2 : 1;

export const consoleOf = ({ hostname }: BareMachine): string => at(`${hostname}.console`);

/** Returns whether QEMU can use the processor's virtualization. */
export async function kvm(): Promise<boolean> {
  return existsSync("/dev/kvm") && hasVirtualization(await readFile("/proc/cpuinfo", "utf8"));
}

/** Starts the BMCs. The machines are off, and their disks are empty. */
export async function startBmcs(): Promise<void> {
  await writeFile(join(DEBIAN, PASSWORD_FILE), `${randomBytes(12).toString("hex")}\n`, { mode: 0o600 });
  await cp(join(DEBIAN, "etc/ssl/rack.key"), at("bmc.key"));
  await chmod(at("bmc.key"), 0o600);
  const accelerated = await kvm();
  for (const machine of MACHINES) {
    const { hostname, uuid, mac, tap, bmc } = machine;
    await mkdir(at("disks"), { recursive: true });
    const disks = Object.fromEntries(["disk0", "disk1"].map((name) => [name, at("disks", `${hostname}-${name}`)]));
    for (const file of Object.values(disks)) {
      await writeFile(file, "");
      await truncate(file, DISK_BYTES);
    }
    const qemu = bareQemuArgv({
      ...{ uuid, mac, tap, disks, kvm: accelerated, console: consoleOf(machine) },
      ...{ memory_mib: MEMORY_MIB, processors: PROCESSORS },
    });
    const settings: BmcSettings = {
      ...{ address: bmc, port: BMC.port, user: BMC.user, uuid },
      ...{ password_file: join(DEBIAN, PASSWORD_FILE), key_file: at("bmc.key"), certificate_file: at("proxy.pem") },
      qemu: ["qemu-system-x86_64", ...qemu],
    };
    await writeFile(at(`${hostname}.bmc.json`), JSON.stringify(settings));
    const program = [process.execPath, "run", "-A", "--quiet", join(ROOT, "src/dev/rack/bmc.ts")];
    await daemon(`bmc-${hostname}`, [...program, at(`${hostname}.bmc.json`)], { space: "switch" });
    await until(`the BMC of ${hostname} answers`, START_LIMIT_MS, async () => {
      return (await redfish(machine, "set-onetime-boot", "--target", "pxe")).code === 0 ? true : null;
    }, async () => (await redfish(machine, "set-onetime-boot", "--target", "pxe")).stderr);
  }
}

/** Runs `booter redfish` of the package, as an operator does on the booter's machine. */
export function redfish({ bmc }: BareMachine, ...argv: readonly string[]): Promise<Ended> {
  const options = ["--host", bmc, "--user", BMC.user, "--password-file", PASSWORD_FILE, "--accept-invalid-certs"];
  return run(["booter", "redfish", ...options, ...argv], { space: "booter", user: "root" });
}

/** Runs `booter redfish`, which must succeed. */
export async function mustRedfish(machine: BareMachine, ...argv: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await redfish(machine, ...argv);
  if (code !== 0) throw new Error(`booter redfish ${argv.join(" ")} of ${machine.hostname}: ${stderr}`);
  return stdout;
}

/** Returns the last output on a machine's console, for errors. */
export async function consoleEnd(machine: BareMachine): Promise<string> {
  return (await readFile(consoleOf(machine), "latin1").catch(() => "")).slice(-CONSOLE_CHARS);
}

const CONSOLE_CHARS = 3_000;
