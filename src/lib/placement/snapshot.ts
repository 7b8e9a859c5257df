// Describes the nodes at one instant, with the free capacity of each. A snapshot may be old. Therefore the commit that
// creates an instance computes the free capacity again (guard_cn_has_room), so that no node is overcommitted.
import type { CapacityReport } from "../../contract/agent.ts";
import type { CnPlacementRules } from "../../contract/cn-placement.ts";
import type { CnRole, CnState } from "../../contract/enums.ts";
import { INSTANCE_POOL, OVERPROVISION_CPU, OVERPROVISION_DISK, OVERPROVISION_RAM } from "../../contract/limits.ts";
import { CPU_UNITS_PER_VCPU } from "../../contract/limits.ts";
import type { Sizes } from "./request.ts";

/** All nodes at the instant `now` of the database's clock. */
export type Snapshot = { readonly now: Date; readonly nodes: readonly NodeSnapshot[] };

/** One node: its reports, the operators' settings, its instances. */
export type NodeSnapshot = {
  readonly server_uuid: string;
  readonly hostname: string;
  readonly state: CnState;
  readonly role: CnRole;
  readonly last_seen: Date | null;
  readonly placement: CnPlacementRules;
  readonly traits: Readonly<Record<string, string>>;
  /** The last capacity report; null if the node has sent none. */
  readonly capacity: CapacityReport | null;
  /** The node's usage counters: the resources of all its instances, in any state. */
  readonly used: Sizes & { readonly instances: number };
  /**
   * The size of the disks in `used.disk_bytes` that the node has not created yet. Its capacity report does not include
   * them.
   */
  readonly unmade_bytes: number;
  readonly neighbours: readonly Neighbours[];
  readonly load: Load | null;
};

/** The instances of one tenant on a node. */
export type Neighbours = { readonly tenant_id: string; readonly silo_id: string; readonly count: number };

/** The last summary of a node's load. Values are fractions from 0 to 1; null if the summary does not have the value. */
export type Load = {
  readonly stale: boolean;
  readonly cpu_p95_5m: number | null;
  readonly ram_used_p95_5m: number | null;
  readonly cpu_p50_1d: number | null;
};

/** Total, used and remaining capacity in the same unit. `left` is negative if the node is overcommitted. */
export type Room = { readonly total: number; readonly used: number; readonly left: number };

/** Returns the node's total, used and remaining memory, in MiB. */
export function ramRoom(node: NodeSnapshot, { ram_total_mb }: CapacityReport): Room {
  return room(ram_total_mb * (node.placement.overprovision_ram ?? OVERPROVISION_RAM), node.used.ram_mb);
}

/** Returns the node's total, used and remaining CPU, in units (100 per vCPU). */
export function cpuRoom(node: NodeSnapshot, { cpu_threads_logical }: CapacityReport): Room {
  const units = cpu_threads_logical * CPU_UNITS_PER_VCPU;
  return room(units * (node.placement.overprovision_cpu ?? OVERPROVISION_CPU), node.used.cpu_units);
}

/** Returns whether the node has a logical processor for each vCPU of an instance. Overprovisioning does not matter. */
export function hasProcessors(
  { cpu_threads_logical }: Pick<CapacityReport, "cpu_threads_logical">,
  { cpu_units }: Pick<Sizes, "cpu_units">,
): boolean {
  return cpu_threads_logical * CPU_UNITS_PER_VCPU >= cpu_units;
}

/**
 * Returns the space for disks in the pool for instances, in bytes; null if the node does not have that pool. There are
 * two limits. The sizes of all disks must fit into the pool, because a thin disk hardly reduces the reported free
 * space. The disks that are not created yet must fit into the current free space, because the pool also stores other
 * data.
 */
export function diskRoom(node: NodeSnapshot, { zpools }: CapacityReport): Room | null {
  const pool = zpools.find(({ name }) => name === INSTANCE_POOL);
  if (pool === undefined) return null;
  const ratio = node.placement.overprovision_disk ?? OVERPROVISION_DISK;
  const promised = room(pool.total_bytes * ratio, node.used.disk_bytes);
  const present = room(pool.free_bytes * ratio, node.unmade_bytes);
  return present.left < promised.left ? present : promised;
}

function room(total: number, used: number): Room {
  return { total, used, left: total - used };
}

/**
 * Returns the snapshot with one more instance on a node. With a `count` of -1, removes the instance and its disks
 * instead.
 */
export function withInstance(
  snapshot: Snapshot,
  server_uuid: string,
  of: Sizes & { readonly tenant_id: string; readonly silo_id: string; readonly count: 1 | -1 },
): Snapshot {
  const nodes = snapshot.nodes.map((node) => node.server_uuid === server_uuid ? changed(node, of) : node);
  return { ...snapshot, nodes };
}

function changed(node: NodeSnapshot, of: Parameters<typeof withInstance>[2]): NodeSnapshot {
  const { tenant_id, silo_id, count } = of;
  const others = node.neighbours.filter((each) => each.tenant_id !== tenant_id);
  const before = node.neighbours.find((each) => each.tenant_id === tenant_id)?.count ?? 0;
  return {
    ...node,
    used: {
      cpu_units: node.used.cpu_units + count * of.cpu_units,
      ram_mb: node.used.ram_mb + count * of.ram_mb,
      disk_bytes: node.used.disk_bytes + count * of.disk_bytes,
      instances: node.used.instances + count,
    },
    unmade_bytes: node.unmade_bytes + count * of.disk_bytes,
    neighbours: before + count > 0 ? [...others, { tenant_id, silo_id, count: before + count }] : others,
  };
}
