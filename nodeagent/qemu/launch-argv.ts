// Builds the command line that starts QEMU in its network namespace, as a user without privileges. If systemd runs,
// QEMU is a unit of systemd.

export type Confinement = {
  readonly vm_id: string;
  readonly uid: number;
  /** Group of /dev/kvm; null without KVM. */
  readonly kvm_gid: number | null;
};

const MIB = 2 ** 20;
/** Memory that QEMU needs in addition to the guest's memory. About 250 MB were measured. */
export const OVERHEAD_BYTES = 512 * MIB;
/** Threads of QEMU: vCPUs, and up to 64 for disk operations. */
const TASKS_MAX = 256;

/** The name of a VM's network namespace and of its unit. */
export function confinementName(vm_id: string): string {
  return `berth-vm-${vm_id}`;
}

/**
 * Returns the command line that runs a command in the VM's namespace, as the VM's user, without capabilities and
 * without a way to get capabilities.
 */
export function confinedArgv({ vm_id, uid, kvm_gid }: Confinement, command: readonly string[]): string[] {
  return [
    "ip",
    "netns",
    "exec",
    confinementName(vm_id),
    "setpriv",
    `--reuid=${uid}`,
    `--regid=${uid}`,
    kvm_gid === null ? "--clear-groups" : `--groups=${kvm_gid}`,
    "--no-new-privs",
    "--bounding-set=-all",
    "--inh-caps=-all",
    ...command,
  ];
}

/**
 * Returns the command line that runs a command as a transient service. The service survives the agent and keeps the
 * exit reason. systemd refuses a numeric `User=` without an entry in passwd, so the command itself changes the user.
 */
export function unitArgv(
  { vm_id, cpu, memory_bytes }: { readonly vm_id: string; readonly cpu: number; readonly memory_bytes: number },
  command: readonly string[],
): string[] {
  const properties = [
    `MemoryMax=${memory_bytes + OVERHEAD_BYTES}`,
    `CPUQuota=${cpu * 100}%`,
    `TasksMax=${TASKS_MAX}`,
    "Restart=no",
    "OOMPolicy=stop",
    "LimitCORE=0",
  ];
  return [
    "systemd-run",
    "--quiet",
    `--unit=${confinementName(vm_id)}`,
    "--slice=berth.slice",
    ...properties.flatMap((property) => ["-p", property]),
    "--",
    ...command,
  ];
}
