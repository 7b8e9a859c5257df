// The resources that an instance takes at creation and releases with its record: quota, room on its node, addresses.
// The commit holds the locks of everything it counts. The commit takes the locks in sorted order, so two commits cannot
// deadlock.
import { conflict, type Fault, fault } from "../../src/contract/fault.ts";
import { CPU_UNITS_PER_VCPU } from "../../src/contract/limits.ts";
import type { QuotaDefaults } from "../../src/contract/tenancy.ts";
import { countedLock, effect, guard, lock, release, remove } from "../engine/effects.ts";
import type { Condition, Part } from "../engine/types.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { subnetLock, subnetPool } from "../../src/lib/net/subnet-pool.ts";
import type { InstanceState, NicRow } from "./state.ts";

const MIB_BYTES = 1_048_576;

const overQuota = (of: "project" | "tenant") =>
  fault("conflict", `the quota of the ${of} would be exceeded: <WHAT>`, { error_code: "QuotaExceeded" });

export type Amounts = {
  readonly cpu: number;
  readonly memory_bytes: number;
  readonly disk_bytes: number;
  readonly instances: number;
};

/** The tenant and the project whose quotas count the usage. */
export type QuotaOf = { readonly tenant_id: string; readonly project_id: string };

/**
 * Takes a share of the project's and the tenant's quota, or refuses. `defaults` apply to a project or tenant without a
 * quota.
 */
export function takeQuota(of: QuotaOf, amounts: Amounts, defaults: QuotaDefaults): Condition[] {
  const { tenant_id, project_id } = of;
  return [
    ...quotaLocks(of),
    guard("quota_has_room", { project_id, ...amounts, defaults: defaults.project }, overQuota("project")),
    guard("tenant_quota_has_room", { tenant_id, ...amounts, defaults: defaults.tenant }, overQuota("tenant")),
    effect("quota_use", { project_id, ...amounts }),
  ];
}

/**
 * The locks of both quotas. Because of the tenant's lock, creates in two of its projects cannot both use the last of
 * the quota. Usage is counted, so creates in one project share a commit call.
 */
function quotaLocks({ tenant_id, project_id }: QuotaOf): Condition[] {
  return [countedLock(lockKey("project", project_id)), countedLock(lockKey("quota", tenant_id))];
}

/** A node, and the owner of a new instance on the node. The owner is null for an instance that already exists. */
export type Host = {
  readonly server_uuid: string;
  readonly owner: { readonly tenant_id: string; readonly silo_id: string } | null;
};

/** Takes room on a node, or refuses. */
export function takeRoom({ server_uuid, owner }: Host, amounts: Amounts, refusal: Fault): Condition[] {
  const { instances, ...room } = { server_uuid, ...roomOf(amounts) };
  return [
    countedLock(lockKey("cn", server_uuid)),
    // Instances run on nodes with the role tenant or both.
    guard("cn_has_room", { ...room, ...(owner && { ...owner, role: "tenant" }) }, refusal),
    effect("cn_use", { ...room, instances }),
  ];
}

/** Converts amounts to the units in which a node's room is counted. */
function roomOf({ cpu, memory_bytes, disk_bytes, instances }: Amounts) {
  return {
    cpu_units: cpu * CPU_UNITS_PER_VCPU,
    ram_mb: Math.floor(memory_bytes / MIB_BYTES),
    disk_bytes,
    instances,
  };
}

/** Releases everything that the record holds, in the commit that removes it. */
export function giveBackAll(s: InstanceState): Part<InstanceState>[] {
  const disk_bytes = s.disks.reduce((sum, disk) => sum + disk.size_bytes, 0);
  const negative = { cpu: -s.cpu, memory_bytes: -s.memory_bytes, disk_bytes: -disk_bytes, instances: -1 };
  const { project_id, host_cn_uuid: server_uuid, id: instance_id } = s;
  // Memory is counted in whole MiB. It is rounded down before it is negated, so that exactly the amount that was taken
  // returns.
  const room = roomOf({ cpu: s.cpu, memory_bytes: s.memory_bytes, disk_bytes, instances: 1 });
  const back = {
    cpu_units: -room.cpu_units,
    ram_mb: -room.ram_mb,
    disk_bytes: -room.disk_bytes,
    instances: -room.instances,
  };
  return [
    ...quotaLocks(s),
    effect("quota_use", { project_id, ...negative }),
    ...(server_uuid === null ? [] : [lock(lockKey("cn", server_uuid)), effect("cn_use", { server_uuid, ...back })]),
    ...s.nics.flatMap(addressesOf),
    remove("nic", { instance_id }),
    remove("disk", { instance_id }),
    remove("sealed_user_data", { instance_id }),
  ];
}

function addressesOf({ subnet_id, primary_ipv4, primary_ipv6 }: NicRow): Condition[] {
  return [
    countedLock(subnetLock(subnet_id)),
    ...(primary_ipv4 === null ? [] : [release(subnetPool(subnet_id, "v4"), primary_ipv4)]),
    ...(primary_ipv6 === null ? [] : [release(subnetPool(subnet_id, "v6"), primary_ipv6)]),
  ];
}

/** 409: the subnet has no address left. */
export function exhausted(subnet_id: string, family: "v4" | "v6"): Fault {
  return fault("conflict", `subnet ${subnet_id} has no free IP${family} address`, { error_code: "PoolExhausted" });
}

/** 409: the node has no room for a larger disk. */
export function noRoomToGrow(disk_id: string): Fault {
  return conflict(`the node of disk ${disk_id} has too little free space for the requested size`);
}
