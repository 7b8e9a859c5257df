// Limits the memory that the VMs of this node may use together: the reservoir. The driver starts no VM that would
// exceed it. With systemd, the slice of all VMs also has a limit. This limit is never below the memory that the running
// VMs may use: otherwise the kernel would kill guests that stay within their size.
import { readFile } from "node:fs/promises";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import type { Reservoir } from "../driver.ts";
import { createOneAtATime } from "../one-at-a-time.ts";
import { memoryOf } from "./hardware.ts";
import { OVERHEAD_BYTES } from "./launch-argv.ts";
import type { Supervisor } from "./supervisor.ts";
import type { VmRecord } from "./vm-record.ts";

/** Returns the memory in bytes that VMs may use. */
export function memoryBudget(physical_bytes: number, { enabled, percent }: Reservoir): number {
  return enabled ? Math.floor(physical_bytes * percent) : physical_bytes;
}

/** Returns the memory in bytes of all VMs that run, start or stop. */
export function memoryInUse(vms: readonly Pick<VmRecord, "memory_bytes" | "power">[]): number {
  return vms.filter(({ power }) => power !== "off").reduce((sum, { memory_bytes }) => sum + memory_bytes, 0);
}

export type Admission = {
  readonly all: readonly VmRecord[];
  readonly budget_bytes: number;
  /** The id of the current boot. */
  readonly boot_id: string;
};

/**
 * Returns a Failure if the VM does not fit beside the other VMs that run, start or stop; otherwise null. A VM that has
 * not started since the node's boot has no process and does not count. So the VMs that wait for their start after a
 * boot do not exclude each other.
 */
export function admitMemory(vm: VmRecord, { all, budget_bytes, boot_id }: Admission): Failure | null {
  const used_bytes = memoryInUse(all.filter((each) => each.id !== vm.id && each.boot_id === boot_id));
  if (used_bytes + vm.memory_bytes <= budget_bytes) return null;
  return new Failure("the node's memory for virtual machines is in use; retry, or stop another one", EXIT.failure);
}

/**
 * Returns the limit of the slice in bytes: the larger of the budget and the sum of the guests' sizes, plus the memory
 * that each QEMU itself needs.
 */
export function sliceLimit(vms: readonly VmRecord[], budget_bytes: number): number {
  // A VM that arrives by migration has a QEMU while its record says `off`.
  const used = vms.filter(({ power, move }) => power !== "off" || move?.role === "arriving");
  const guests_bytes = used.reduce((sum, { memory_bytes }) => sum + memory_bytes, 0);
  return Math.max(budget_bytes, guests_bytes) + used.length * OVERHEAD_BYTES;
}

export type LimitedSupervisor = Supervisor & {
  /** Sets the limit of all VMs together. The limit depends on the VMs that have a QEMU now. */
  applyLimit(): Promise<void>;
};

/** Returns a supervisor that sets the limit of all VMs together before each start. */
export function limitedSupervisor(supervisor: Supervisor, limit: () => number | null): LimitedSupervisor {
  // The calls run one at a time: an earlier, lower limit must not replace a later limit.
  const serialized = createOneAtATime();
  const applyLimit = () => serialized("limit", () => supervisor.limitMemory(limit()));
  return {
    ...supervisor,
    applyLimit,
    start: async (...start) => {
      await applyLimit();
      await supervisor.start(...start);
    },
  };
}

export async function physicalMemory(): Promise<number> {
  return memoryOf(await readFile("/proc/meminfo", "utf8"), "MemTotal");
}
