// A floating IP as the API shows it. Document 4, 1.15.
import type { FloatingIp } from "../../src/contract/network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import type { FloatingIpState } from "./state.ts";

export function floatingIpView(s: Pick<FloatingIpState, keyof FloatingIp>): FloatingIp {
  return {
    id: s.id,
    tenant_id: s.tenant_id,
    project_id: s.project_id,
    name: s.name,
    description: s.description,
    address: s.address,
    family: s.family,
    attached_to: s.attached_to,
    attached_instance_id: s.attached_instance_id,
    network_id: s.network_id,
    external_nic_tag: s.external_nic_tag,
    hosted_cn: s.hosted_cn,
    created_at: toRfc3339(s.created_at),
    updated_at: toRfc3339(s.updated_at),
  };
}
