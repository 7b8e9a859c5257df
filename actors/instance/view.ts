// The views of an instance, its disks and its NICs.
import type { Disk, Instance, Lifecycle, Nic } from "../../src/contract/instance.ts";
import type { Snapshot } from "../../src/contract/snapshot.ts";
import { storedBlock } from "../../src/lib/net/ip-block.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import type { DiskRow, InstanceState, NicRow } from "./state.ts";

/** The fields that come from the record alone. Queries add whether the node is alive. */
export type InstanceColumns = Omit<
  InstanceState,
  | "operation_id"
  | "operation_kind"
  | "job_begun"
  | "unwinding_as"
  | "floating_ip_ids"
  | "reported_at"
  | "nics"
  | "disks"
  | "migration_id"
>;

/** The number of consecutive reports without an instance after which the API shows the instance as missing. */
export const MISSED_REPORTS_MAX = 2;

export function instanceView(s: InstanceColumns, host_live: boolean | null = null): Instance {
  return {
    id: s.id,
    tenant_id: s.tenant_id,
    project_id: s.project_id,
    name: s.name,
    description: s.description,
    labels: s.labels,
    deletion_protection: s.deletion_protection,
    placement_group_id: s.placement_group_id,
    brand: s.brand,
    cpu: s.cpu,
    memory_bytes: s.memory_bytes,
    image_id: s.image_id,
    primary_subnet_id: s.primary_subnet_id,
    ssh_key_ids: [...s.ssh_key_ids],
    host_cn_uuid: s.host_cn_uuid,
    host_live,
    found_on_host: s.missed_reports < MISSED_REPORTS_MAX,
    lifecycle: lifecycleOf(s),
    created_at: toRfc3339(s.created_at),
    updated_at: toRfc3339(s.updated_at),
  };
}

export function lifecycleOf({ state, reason }: Pick<InstanceState, "state" | "reason">): Lifecycle {
  return state === "failed" ? { state, reason: reason ?? "" } : { state };
}

type Shown = Omit<DiskRow, "created_at" | "resize_operation_id"> & { readonly created_at: Date };

export function snapshotView(row: Shown): Snapshot {
  const { id, tenant_id, project_id, instance_id, source_disk_id } = row;
  const { name, description, labels, size_bytes, consistency } = row;
  const own = { id, tenant_id, project_id, instance_id, disk_id: source_disk_id ?? "" };
  return { ...own, name, description, labels, size_bytes, consistency, created_at: toRfc3339(row.created_at) };
}

export function diskView(row: Shown): Disk {
  const { id, tenant_id, project_id, instance_id, name, description, labels } = row;
  const kind = row.kind === "boot" ? "boot" : "data";
  const { size_bytes, applied_bytes, attached, source_image_id, created_at } = row;
  return {
    id,
    tenant_id,
    project_id,
    instance: instance_id,
    instance_id,
    name,
    description,
    labels,
    kind,
    size_bytes,
    applied_bytes,
    attached,
    source_image_id,
    created_at: toRfc3339(created_at),
  };
}

export function nicView(
  row: Omit<NicRow, "created_at" | "mac"> & {
    readonly mac: string;
    readonly floating_ips: string[];
    readonly created_at: Date;
  },
): Nic {
  const { ordinal: _ordinal, created_at, additional_ips, allowed_cidrs, ...columns } = row;
  return {
    ...columns,
    additional_ips: [...additional_ips],
    allowed_cidrs: allowed_cidrs.map((block) => storedBlock(block)),
    realized: null,
    created_at: toRfc3339(created_at),
  };
}
