// A floating IP as the API shows it.
import type { FloatingIp } from "../../src/contract/network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { type FloatingIpRow, rowOf } from "./row.ts";
import type { FloatingIpState } from "./state.ts";

export function floatingIpView(s: FloatingIpState): FloatingIp {
  return floatingIpRowView(rowOf(s));
}

export function floatingIpRowView(row: Pick<FloatingIpRow, Exclude<keyof FloatingIp, "realized">>): FloatingIp {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    project_id: row.project_id,
    name: row.name,
    description: row.description,
    labels: row.labels,
    address: row.address,
    family: row.family,
    attached_to: row.attached_to,
    attached_instance_id: row.attached_instance_id,
    network_id: row.network_id,
    external_nic_tag: row.external_nic_tag,
    hosted_cn: row.hosted_cn,
    realized: null,
    created_at: toRfc3339(row.created_at),
    updated_at: toRfc3339(row.updated_at),
  };
}
