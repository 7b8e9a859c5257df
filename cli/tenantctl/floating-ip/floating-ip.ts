import type { FloatingIp } from "../../../src/contract/network.ts";
import type { TenantIo } from "../open-io.ts";
import { ID_COLUMN } from "../../internal/table.ts";
import { PENDING_COLUMN } from "../record/realized.ts";
import type { Kind } from "../record/kind.ts";
import { resolveRecord } from "../record/scope.ts";

export const FLOATING_IP: Kind<FloatingIp> = {
  noun: "floating-ip",
  singular: "floating IP",
  plural: "floating IPs",
  title: "Floating IP",
  path: "/v1/floating-ips",
  has_labels: true,
  sample: "web-ip",
  parent: "project",
  columns: [
    ["NAME", (ip) => ip.name],
    ["ID", (ip) => ip.id, ID_COLUMN],
    ["ADDRESS", (ip) => ip.address],
    ["ATTACHED_TO", holder],
    PENDING_COLUMN,
  ],
  lines: (ip) => [
    ["id", ip.id],
    ["name", ip.name],
    ["address", ip.address],
    ["attached_to", holder(ip)],
  ],
};

/** Returns the NIC to which the floating IP is attached, or null, which is printed as a dash. */
function holder({ attached_to }: FloatingIp): string | null {
  return attached_to === null ? null : `nic=${attached_to}`;
}

/** Returns the path of a floating IP. Reads the floating IP, because the path contains its tenant and project. */
export async function pathOf(io: TenantIo, name: string): Promise<string> {
  const id = await resolveRecord(io, FLOATING_IP, { name });
  const { tenant_id, project_id } = await io.get<FloatingIp>(`${FLOATING_IP.path}/${id}`);
  return `/v1/tenants/${tenant_id}/projects/${project_id}/floating-ips/${id}`;
}
