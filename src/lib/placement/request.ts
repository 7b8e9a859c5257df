// The request to place an instance.
import type { CapacityReport } from "../../contract/agent.ts";
import type { AddressFamily, CnRole, InstanceBrand } from "../../contract/enums.ts";
import { CPU_UNITS_PER_VCPU } from "../../contract/limits.ts";

/** The capacity that an instance uses, in the units of a node's counters. */
export type Sizes = { readonly cpu_units: number; readonly ram_mb: number; readonly disk_bytes: number };

/** Input of the filters and scorers. An absent field makes no demand. */
export type PlacementRequest = Sizes & {
  readonly role: CnRole;
  readonly brand: InstanceBrand;
  /** The image's minimum, compared with the node's platform as text. */
  readonly min_platform: string | null;
  /** Null: no tenant; such a request fits no pinned node. */
  readonly tenant_id: string | null;
  readonly silo_id: string | null;
  readonly instance_id: string | null;
  readonly avoid_cn: readonly string[];
  readonly traits?: Readonly<Record<string, string>>;
  readonly nic_tags?: readonly string[];
  /** Default: v4. */
  readonly underlay?: readonly AddressFamily[];
  readonly devices?: readonly Wanted[];
  /** The present node of an instance that moves. */
  readonly migration?: Migration;
};

/** Devices of one kind; without `model`, of any model. */
export type Wanted = {
  readonly kind: CapacityReport["devices"][number]["kind"];
  readonly model?: string;
  readonly count: number;
};

/** `live`: the guest keeps running while it moves, so the target must be an equal machine. */
export type Migration = { readonly from: CapacityReport; readonly live: boolean };

const MIB = 2 ** 20;

/** Converts to counter units: a vCPU is 100 units, memory is in whole MiB, rounded down. */
export function sizesOf(of: { cpu: number; memory_bytes: number; disk_bytes: number }): Sizes {
  return {
    cpu_units: of.cpu * CPU_UNITS_PER_VCPU,
    ram_mb: Math.floor(of.memory_bytes / MIB),
    disk_bytes: of.disk_bytes,
  };
}
