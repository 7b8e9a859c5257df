// Creates an instance. One commit takes its addresses, its share of the quota, and capacity of the first candidate node
// with enough capacity. The same commit writes its NICs and its disk, and starts the operation that waits for the node.
// If no candidate has enough capacity, the commit writes only the refusal (docs/instances.md, "Create").
import { CAPACITY_EXHAUSTED, conflict, type Fault, NO_ELIGIBLE_NODE } from "../../src/contract/fault.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { canonicalMac, isMulticastMac } from "../../src/lib/net/mac.ts";
import { labelsFault } from "../../src/lib/text/labels.ts";
import { nameFault } from "../../src/lib/text/resource-name.ts";
import { allocate, audit, countedLock, go, insert, lock, otherwise, refuse } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Condition, Out, Part } from "../engine/types.ts";
import { subnetLock, subnetPool } from "../../src/lib/net/subnet-pool.ts";
import { vpcsChanged } from "../record/vpc-change.ts";
import type { InstanceMessage, NicPlan } from "./messages.ts";
import { begin, INSTANCE_CREATE } from "./operation.ts";
import { fitGroup } from "./placement-group.ts";
import { type Amounts, exhausted, takeQuota, takeRoom } from "./resources.ts";
import { type DiskRow, IDLE, type InstanceState, type NicRow, type On } from "./state.ts";
import { instanceView } from "./view.ts";

type Create = Of<InstanceMessage, "create">;

export function create(_s: null, m: Create, now: Date): Out<InstanceState> {
  const wrong = nameFault(m.name) ?? labelsFault(m.labels) ?? brokenNics(m.nics);
  if (wrong !== null) return refuse(wrong);
  // If every candidate refuses, the caller gets the refusal of the last one. For each candidate, the commit checks the
  // quota, then the addresses, then the capacity.
  const hosts = m.candidates.length > 0 ? m.candidates : [NO_NODE];
  const first = hosts.map((server_uuid) => placedOn(server_uuid, m, now)).reduceRight<Out<InstanceState> | null>(
    (rest, { next, parts }) => go(next, ...parts, ...(rest === null ? [] : [otherwise(rest)])),
    null,
  );
  return first ?? refuse(NO_ELIGIBLE_NODE);
}

/**
 * The host of a create for which no node is a candidate. No node has this id, so the check of the capacity fails. The
 * commit checks the quota and the addresses first, so the refusal names an exceeded quota even if no node is large
 * enough.
 */
const NO_NODE = "00000000-0000-0000-0000-000000000000";

function placedOn(host_cn_uuid: string, m: Create, now: Date) {
  const no_room = host_cn_uuid === NO_NODE ? NO_ELIGIBLE_NODE : CAPACITY_EXHAUSTED;
  const { id, tenant_id, project_id, operation_id, limit_ms } = m;
  const of = { tenant_id, project_id, instance_id: id, created_at: toRfc3339(now) };
  const nics = m.nics.map((plan, ordinal): NicRow => ({
    ...of,
    id: plan.id,
    vpc_id: plan.vpc_id,
    subnet_id: plan.subnet_id,
    ordinal,
    name: plan.name,
    mac: plan.mac === null ? null : canonicalMac(plan.mac),
    primary_ipv4: plan.ipv4_token,
    primary_ipv6: plan.ipv6_token,
    additional_ips: [],
    allowed_cidrs: [],
    labels: {},
  }));
  const boot: DiskRow = {
    ...of,
    id: m.boot_disk.id,
    name: "boot",
    description: "",
    labels: {},
    kind: "boot",
    size_bytes: m.boot_disk.size_bytes,
    applied_bytes: null,
    attached: true,
    source_disk_id: null,
    consistency: null,
    source_image_id: m.image_id,
    resize_operation_id: null,
  };
  const next: On<"pending"> = {
    state: "pending",
    id,
    tenant_id,
    project_id,
    name: m.name,
    description: m.description,
    labels: m.labels,
    deletion_protection: m.deletion_protection,
    placement_group_id: m.placement_group_id,
    brand: m.brand,
    cpu: m.cpu,
    memory_bytes: m.memory_bytes,
    image_id: m.image_id,
    primary_subnet_id: m.primary_subnet_id,
    ssh_key_ids: m.ssh_key_ids,
    host_cn_uuid,
    reason: null,
    ...IDLE,
    operation_id,
    operation_kind: "create",
    floating_ip_ids: [],
    reported_at: null,
    missed_reports: 0,
    created_at: now,
    updated_at: now,
    nics,
    disks: [boot],
    migration_id: null,
  };
  const amounts: Amounts = {
    cpu: m.cpu,
    memory_bytes: m.memory_bytes,
    disk_bytes: boot.size_bytes,
    instances: 1,
  };
  const params = { instance_id: id, host_cn_uuid, limit_ms, instance: instanceView(next) };
  const parts: Part<InstanceState>[] = [
    lock(lockKey("image", m.image_id), true),
    ...takeQuota(m, amounts, m.quota_defaults),
    ...m.nics.flatMap(takeAddresses),
    ...takeRoom({ server_uuid: host_cn_uuid, owner: { tenant_id, silo_id: m.silo_id } }, amounts, no_room),
    ...fitGroup(next, { server_uuid: host_cn_uuid }, no_room),
    ...nics.map((nic) => insert("nic", nic)),
    ...vpcsChanged(nics),
    insert("disk", boot),
    ...(m.sealed_user_data === null
      ? []
      : [insert("sealed_user_data", { instance_id: id, sealed: m.sealed_user_data })]),
    begin(next, {
      id: operation_id,
      saga: INSTANCE_CREATE.saga,
      params,
      done: { [INSTANCE_CREATE.record]: { instance_id: id }, [INSTANCE_CREATE.host]: { host_cn_uuid } },
    }, [{ scope: "image", id: m.image_id }]),
    audit("instance_create", `Instance::"${id}"`, {
      name: m.name,
      tenant_id,
      project_id,
      image_id: m.image_id,
      cpu: m.cpu,
      memory_bytes: m.memory_bytes,
      disk_bytes: boot.size_bytes,
      host_cn_uuid,
      operation_id,
    }),
  ];
  return { next, parts };
}

function takeAddresses({ subnet_id, vpc_id, ipv4_token, ipv6_token }: NicPlan): Condition[] {
  return [
    lock(lockKey("vpc", vpc_id), true),
    countedLock(subnetLock(subnet_id)),
    ...(ipv4_token === null ? [] : [allocate(subnetPool(subnet_id, "v4"), ipv4_token, exhausted(subnet_id, "v4"))]),
    ...(ipv6_token === null ? [] : [allocate(subnetPool(subnet_id, "v6"), ipv6_token, exhausted(subnet_id, "v6"))]),
  ];
}

/** Returns the 409 if a NIC has an invalid name or MAC, or if two NICs have the same name; otherwise null. */
function brokenNics(nics: readonly NicPlan[]): Fault | null {
  const names = new Set<string>();
  for (const { name, mac } of nics) {
    const broken = nameFault(name) ?? (mac === null ? null : brokenMac(mac));
    if (broken !== null) return broken;
    if (names.has(name)) return conflict(`two NICs of the instance are named ${name}`);
    names.add(name);
  }
  return null;
}

export function brokenMac(text: string): Fault | null {
  const mac = canonicalMac(text);
  if (mac === null) return conflict("mac must be 12 hex digits");
  return isMulticastMac(mac) ? conflict(`mac ${mac} is a multicast address; a NIC needs a unicast address`) : null;
}
