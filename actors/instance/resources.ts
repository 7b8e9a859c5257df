// The resources that an instance takes at creation and releases with its record: quota, capacity of its node,
// addresses. The commit holds the locks of all the resources that it counts. It takes the locks in sorted order, so two
// commits cannot deadlock.
import { conflict, type Fault, fault } from "../../src/contract/fault.ts";
import { CPU_UNITS_PER_VCPU } from "../../src/contract/limits.ts";
import type { QuotaDefaults } from "../../src/contract/tenancy.ts";
import { countedLock, effect, guard, lock, release, remove } from "../engine/effects.ts";
import type { Condition, Part } from "../engine/types.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { subnetLock, subnetPool } from "../../src/lib/net/subnet-pool.ts";
import { vpcsChanged } from "../record/vpc-change.ts";
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

/** The processors and the memory of an instance. */
export type Size = Pick<Amounts, "cpu" | "memory_bytes">;

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
 * The locks of both quotas. Without the tenant's lock, creates in two projects could both use the rest of the tenant's
 * quota. The locks are counted locks, so creates in one project can share a commit call.
 */
function quotaLocks({ tenant_id, project_id }: QuotaOf): Condition[] {
  return [countedLock(lockKey("project", project_id)), countedLock(lockKey("quota", tenant_id))];
}

/**
 * A node, and the owner of an instance that comes to the node. The owner is null if the instance is on the node
 * already. If this instance gets more vCPUs, `cpu` is its new number of vCPUs.
 */
export type Host =
  & { readonly server_uuid: string }
  & (
    | { readonly owner: { readonly tenant_id: string; readonly silo_id: string } }
    | { readonly owner: null; readonly cpu?: number }
  );

/** Takes capacity of a node, or refuses. */
export function takeRoom(host: Host, amounts: Amounts, refusal: Fault): Condition[] {
  const { server_uuid } = host;
  const { instances, ...room } = { server_uuid, ...roomOf(amounts) };
  return [
    countedLock(lockKey("cn", server_uuid)),
    // Instances run on nodes with the role `tenant` or the role `both`.
    guard(
      "cn_has_room",
      { ...room, ...(host.owner === null ? { grows: true, cpu: host.cpu } : { ...host.owner, role: "tenant" }) },
      refusal,
    ),
    effect("cn_use", { ...room, instances }),
  ];
}

/**
 * Returns the difference between two sizes as amounts of a node's capacity. A node's memory is counted in whole MiB, so
 * each size is rounded before the comparison.
 */
export function roomBetween(before: Size, after: Size): Amounts {
  const mib = Math.floor(after.memory_bytes / MIB_BYTES) - Math.floor(before.memory_bytes / MIB_BYTES);
  return { cpu: after.cpu - before.cpu, memory_bytes: mib * MIB_BYTES, disk_bytes: 0, instances: 0 };
}

/** Converts amounts to the units in which a node's capacity is counted. */
function roomOf({ cpu, memory_bytes, disk_bytes, instances }: Amounts) {
  return {
    cpu_units: cpu * CPU_UNITS_PER_VCPU,
    ram_mb: Math.floor(memory_bytes / MIB_BYTES),
    disk_bytes,
    instances,
  };
}

/** Returns the amounts that an instance takes from the capacity of its node. */
export function amountsOf(s: Pick<InstanceState, "cpu" | "memory_bytes" | "disks">): Amounts {
  const disk_bytes = s.disks.reduce((sum, disk) => sum + disk.size_bytes, 0);
  return { cpu: s.cpu, memory_bytes: s.memory_bytes, disk_bytes, instances: 1 };
}

/** Releases the capacity that an instance takes on a node. */
export function giveBackRoom(server_uuid: string, amounts: Amounts): Condition[] {
  // Memory is counted in whole MiB. The amount is rounded down before it is negated, so that the node gets back exactly
  // the amount that was taken.
  const { cpu_units, ram_mb, disk_bytes, instances } = roomOf(amounts);
  const back = { cpu_units: -cpu_units, ram_mb: -ram_mb, disk_bytes: -disk_bytes, instances: -instances };
  return [lock(lockKey("cn", server_uuid)), effect("cn_use", { server_uuid, ...back })];
}

/** Releases everything that the record holds, in the commit that removes it. */
export function giveBackAll(s: InstanceState): Part<InstanceState>[] {
  const { id: instance_id } = s;
  return [
    ...giveBack(s, amountsOf(s)),
    ...s.nics.flatMap(addressesOf),
    remove("nic", { instance_id }),
    ...vpcsChanged(s.nics),
    remove("disk", { instance_id }),
    remove("sealed_user_data", { instance_id }),
  ];
}

/** Gives back a share of the quotas, and the capacity of the node. */
export function giveBack(s: InstanceState, amounts: Amounts): Part<InstanceState>[] {
  const { project_id, host_cn_uuid: server_uuid } = s;
  const { cpu, memory_bytes, disk_bytes, instances } = amounts;
  const negative = { cpu: -cpu, memory_bytes: -memory_bytes, disk_bytes: -disk_bytes, instances: -instances };
  return [
    ...quotaLocks(s),
    effect("quota_use", { project_id, ...negative }),
    ...(server_uuid === null ? [] : giveBackRoom(server_uuid, amounts)),
  ];
}

/** Gives all addresses of a NIC back to its subnet. */
export function addressesOf({ subnet_id, primary_ipv4, primary_ipv6, additional_ips }: NicRow): Condition[] {
  const held = [primary_ipv4, primary_ipv6, ...additional_ips].filter((address) => address !== null);
  return [countedLock(subnetLock(subnet_id)), ...held.map((address) => releaseAddress(subnet_id, address))];
}

/** Gives one address back to its subnet. The commit must hold the subnet's lock. */
export function releaseAddress(subnet_id: string, address: string): Condition {
  return release(subnetPool(subnet_id, address.includes(":") ? "v6" : "v4"), address);
}

/** 409: the subnet has no address left. */
export function exhausted(subnet_id: string, family: "v4" | "v6"): Fault {
  return fault("conflict", `subnet ${subnet_id} has no free IP${family} address`, { error_code: "PoolExhausted" });
}

/** 409: the node has no room for a new disk or snapshot, or for a larger disk. */
export function noRoomToGrow(disk_id: string): Fault {
  return conflict(`the node of disk ${disk_id} has too little free space for the requested size`);
}

/** 409: the node has no room for a larger instance. */
export function noRoomForSize(instance_id: string): Fault {
  return conflict(`the node of instance ${instance_id} has no room for the requested size: <WHAT>`);
}
