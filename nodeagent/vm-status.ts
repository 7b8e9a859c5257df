// Describes a VM in a status report, with the platform's field names. The report contains no SSH keys and no user data,
// which stay on the node.

export type ReportedVm = {
  readonly uuid: string;
  readonly state: string;
  readonly alias: string;
  readonly brand: string;
  readonly owner_uuid: string;
  readonly cpu: number;
  readonly memory_bytes: number;
  readonly disks: readonly { readonly id: string; readonly name: string; readonly size_bytes: number }[];
  readonly nics: readonly object[];
  readonly internal_metadata: Readonly<Record<string, string>>;
  readonly last_modified: string;
};

/**
 * The state that the target of a migration reports, and that the source reports after it has sent the whole VM. While a
 * node reports this state, the control plane keeps the previous state of the instance.
 */
export const MOVING = "migrating";

const MIB = 2 ** 20;
const GIB = 2 ** 30;

export function vmStatus(vm: ReportedVm) {
  const { uuid, state, alias, brand, owner_uuid, internal_metadata, last_modified, nics, disks } = vm;
  return {
    uuid,
    state,
    zone_state: state === "running" ? "running" : "installed",
    alias,
    brand,
    owner_uuid,
    cpu_cap: vm.cpu * 100,
    max_physical_memory: Math.floor(vm.memory_bytes / MIB),
    quota: Math.ceil(disks.reduce((sum, { size_bytes }) => sum + size_bytes, 0) / GIB),
    internal_metadata,
    last_modified,
    nics,
    disks: disks.map(({ id, name, size_bytes }) => ({ id, name, size_bytes })),
  };
}
