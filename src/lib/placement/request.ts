// What is to be placed. Document 4, 4.1.
import type { CapacityReport } from "../../contract/agent.ts";
import type { AddressFamily, CnRole, InstanceBrand } from "../../contract/enums.ts";
import { CPU_UNITS_PER_VCPU } from "../../contract/limits.ts";

/** What an instance takes of a node, in the units that nodes are counted in. */
export type Sizes = { readonly cpu_units: number; readonly ram_mb: number; readonly disk_bytes: number };

/** What the filters and scorers look at. What is not given is not asked for. */
export type PlacementRequest = Sizes & {
  readonly role: CnRole;
  readonly brand: InstanceBrand;
  /** The image's: compared with the node's platform as text. */
  readonly min_platform: string | null;
  /** Null: for nobody in particular, which fits no node that is kept for somebody. */
  readonly tenant_id: string | null;
  readonly silo_id: string | null;
  readonly instance_id: string | null;
  readonly avoid_cn: readonly string[];
  readonly traits?: Readonly<Record<string, string>>;
  readonly nic_tags?: readonly string[];
  /** Default: v4. */
  readonly underlay?: readonly AddressFamily[];
  readonly devices?: readonly Wanted[];
  /** Where it runs now, when it is to move. */
  readonly migration?: Migration;
};

/** Devices of one kind; without `model` any will do. */
export type Wanted = {
  readonly kind: CapacityReport["devices"][number]["kind"];
  readonly model?: string;
  readonly count: number;
};

/** `live`: it runs on while it moves, so the guest must find the same machine. */
export type Migration = { readonly from: CapacityReport; readonly live: boolean };

const MIB = 2 ** 20;

/** Document 4, 4.1: a vCPU is 100 units, memory is counted in whole MiB, rounded down. */
export function sizesOf(of: { cpu: number; memory_bytes: number; disk_bytes: number }): Sizes {
  return {
    cpu_units: of.cpu * CPU_UNITS_PER_VCPU,
    ram_mb: Math.floor(of.memory_bytes / MIB),
    disk_bytes: of.disk_bytes,
  };
}
