// Prevents a node that boots from starting VMs that it has lost. While a node is off, its instances may be evacuated to
// other nodes. A VM that ran before the boot therefore waits for the control plane. The VM starts only if the control
// plane still lists it on this node, or is too old to list instances (see OwnInstances).
import type { Driver } from "../driver.ts";
import type { VmStore } from "./vm-store.ts";

/**
 * Returns the instances of this node; null if the server is too old to list instances. A node that has lost its key
 * registers its hardware first.
 */
export type OwnInstances = (hardware: Driver["hardware"]) => Promise<ReadonlySet<string> | null>;

export type StartFence = {
  readonly store: Pick<VmStore, "all" | "change">;
  /** The id of the current boot. */
  readonly boot_id: string;
  readonly ownInstances: () => ReturnType<OwnInstances>;
  readonly log: (line: string) => void;
};

/**
 * After a boot of this node, prevents the start of VMs that no longer belong to this node. Returns when the control
 * plane has answered. Does not ask the control plane if no VM would start, for example because the VMs still run after
 * a restart of the agent alone.
 */
export async function holdForeignVms({ store, boot_id, ownInstances, log }: StartFence): Promise<void> {
  const starting = store.all().filter((vm) => !vm.move && vm.boot_id !== boot_id && vm.power !== "off");
  if (starting.length === 0) return;
  const own = await ownInstances();
  if (own === null) return;
  for (const { id } of starting) {
    if (own.has(id)) continue;
    // The VM is not removed here: the control plane sends a job that deletes it.
    await store.change(id, { power: "off" });
    log(`VM ${id} does not start: its instance is not on this node any more`);
  }
}
