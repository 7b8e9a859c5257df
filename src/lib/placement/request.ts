// Defines the request to place an instance.
import type { CapacityReport } from "../../contract/agent.ts";
import type { AddressFamily, CnRole, InstanceBrand } from "../../contract/enums.ts";
import { CPU_UNITS_PER_VCPU } from "../../contract/limits.ts";
import type { WantedGroup } from "./group.ts";

/**
 * The capacity that an instance uses, in the units of a node's usage counters: `cpu_units` are hundredths of a vCPU.
 */
export type Sizes = { readonly cpu_units: number; readonly ram_mb: number; readonly disk_bytes: number };

/** A request for a node: the input of the filters and scorers. An absent field requires nothing, except `underlay`. */
export type PlacementRequest = Sizes & {
  readonly role: CnRole;
  readonly brand: InstanceBrand;
  /** The stamp of the oldest platform that the image supports. It is compared with the node's stamp as text. */
  readonly min_platform: string | null;
  /** Null if the request has no tenant. Such a request is rejected by every node that is pinned to a tenant. */
  readonly tenant_id: string | null;
  readonly silo_id: string | null;
  readonly instance_id: string | null;
  readonly avoid_cn: readonly string[];
  readonly traits?: Readonly<Record<string, string>>;
  readonly nic_tags?: readonly string[];
  /** The nodes with a bridge for each NIC tag of the instance's floating IPs. */
  readonly bridged_nodes?: BridgedNodes;
  /** Default: v4. */
  readonly underlay?: readonly AddressFamily[];
  readonly devices?: readonly Wanted[];
  /** The placement group of the instance. */
  readonly group?: WantedGroup | null;
  /**
   * Describes the current node of an instance that moves. Absent if the instance does not move, or if its node has not
   * reported its capacity.
   */
  readonly migration?: Migration;
};

/** By NIC tag: the `server_uuid` of the nodes that report a bridge for the tag. */
export type BridgedNodes = Readonly<Record<string, readonly string[]>>;

/** Devices of one kind. Without `model`, devices of any model. */
export type Wanted = {
  readonly kind: CapacityReport["devices"][number]["kind"];
  readonly model?: string;
  readonly count: number;
};

/** `live`: the guest keeps running while it moves, so the target's hardware must be compatible. */
export type Migration = { readonly from: CapacityReport; readonly live: boolean };

const MIB = 2 ** 20;

/** Converts to the units of usage counters: a vCPU is 100 units, memory is rounded down to whole MiB. */
export function sizesOf(of: { cpu: number; memory_bytes: number; disk_bytes: number }): Sizes {
  return {
    cpu_units: of.cpu * CPU_UNITS_PER_VCPU,
    ram_mb: Math.floor(of.memory_bytes / MIB),
    disk_bytes: of.disk_bytes,
  };
}
