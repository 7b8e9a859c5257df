// Describes the parts of this machine that the QEMU driver uses.
import { constants, existsSync } from "node:fs";
import { open, readFile, stat } from "node:fs/promises";
import type { Folders } from "./folders.ts";
import type { Accelerator, UefiFirmware } from "./qemu-argv.ts";
import { sessionSupervisor, type Supervisor, systemdSupervisor } from "./supervisor.ts";

export type Host = {
  readonly folders: Folders;
  readonly program: string;
  readonly accelerator: Accelerator;
  /** Group of /dev/kvm; null without KVM. */
  readonly kvm_gid: number | null;
  /** Null without the package ovmf. */
  readonly uefi: UefiFirmware | null;
  readonly supervisor: Supervisor;
  /** Changes with every boot of the node. */
  readonly boot_id: string;
  /** Time that a guest has to turn itself off after the power button. */
  readonly halt_wait_ms: number;
  /** Aborted when the agent stops. */
  readonly signal: AbortSignal;
  log(line: string): void;
};

export const QEMU = "qemu-system-x86_64";
/** Time that a guest has to turn itself off after the power button. */
export const HALT_WAIT_MS = 60_000;
const KVM_DEVICE = "/dev/kvm";
/** Firmware of the package ovmf: the code, and the variables that a new VM starts with. */
const UEFI: UefiFirmware = {
  code: "/usr/share/OVMF/OVMF_CODE_4M.fd",
  variables: "/usr/share/OVMF/OVMF_VARS_4M.fd",
};
const SYSTEMD_RUNS = "/run/systemd/system";

export type HostOptions = Pick<Host, "folders" | "signal" | "log"> & Partial<Pick<Host, "halt_wait_ms">>;

export async function detectHost(options: HostOptions): Promise<Host> {
  const kvm_gid = await kvmGroup();
  return {
    halt_wait_ms: HALT_WAIT_MS,
    ...options,
    program: QEMU,
    accelerator: kvm_gid === null ? "tcg" : "kvm",
    kvm_gid,
    uefi: existsSync(UEFI.code) && existsSync(UEFI.variables) ? UEFI : null,
    supervisor: existsSync(SYSTEMD_RUNS) ? systemdSupervisor() : sessionSupervisor(),
    boot_id: (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim(),
  };
}

/**
 * Returns the group of /dev/kvm; null if KVM is unusable. The device alone does not prove that KVM works. If this
 * machine is itself a virtual machine, it can have the device without the processor's support. Then no VM starts with
 * KVM.
 */
async function kvmGroup(): Promise<number | null> {
  const processor = await readFile("/proc/cpuinfo", "utf8").catch(() => "");
  if (!hasVirtualization(processor)) return null;
  try {
    const device = await open(KVM_DEVICE, constants.O_RDWR);
    await device.close();
    return (await stat(KVM_DEVICE)).gid;
  } catch {
    return null;
  }
}

/** Returns whether /proc/cpuinfo shows Intel's or AMD's virtualization. */
export function hasVirtualization(cpuinfo: string): boolean {
  return /^flags\s*:.*\b(?:vmx|svm)\b/m.test(cpuinfo);
}
