// Defines how commands list, find and print external subnets.
import type { ExternalSubnet } from "../../../src/contract/external-network.ts";
import type { Io } from "../../internal/io.ts";
import { ID_COLUMN } from "../../internal/table.ts";
import { findRecord, named, titleOf } from "../../internal/record-name.ts";
import type { Kind } from "../record/kind.ts";

export const EXTERNAL_SUBNETS_PATH = "/v1/system/external-subnets";
export const SUBNET_NAME = named<ExternalSubnet>("external subnet", "opsctl external-subnet list");

export async function findExternalSubnet(io: Io, name: string): Promise<ExternalSubnet> {
  return await findRecord(io, name, { path: EXTERNAL_SUBNETS_PATH, kind: SUBNET_NAME });
}

/** Returns `203.0.113.10-203.0.113.99`, or null if the subnet has no block of this family. */
function rangeText(start: string | null, end: string | null): string | null {
  return start === null && end === null ? null : `${start ?? ""}-${end ?? ""}`;
}

export const EXTERNAL_SUBNET: Kind<ExternalSubnet> = {
  one: "external subnet",
  many: "external subnets",
  argument: ["<external-subnet>", "UUID, unique UUID prefix or name"],
  sample: "public-1",
  summaries: { list: "List external subnets", delete: "Delete an unused external subnet" },
  columns: [
    ["NAME", (subnet) => subnet.name],
    ["ID", (subnet) => subnet.id, ID_COLUMN],
    ["NIC_TAG", (subnet) => subnet.nic_tag],
    ["VLAN_ID", (subnet) => subnet.vlan_id],
    ["IPV4_BLOCK", (subnet) => subnet.ipv4_block],
    ["IPV6_BLOCK", (subnet) => subnet.ipv6_block],
    ["OWNER_SILOS", (subnet) => subnet.owner_silos.length === 0 ? "(all)" : subnet.owner_silos.length],
    ["DESCRIPTION", (subnet) => subnet.description],
  ],
  lines: (subnet) => [
    ["id", subnet.id],
    ["name", subnet.name],
    ["description", subnet.description],
    ["nic_tag", subnet.nic_tag],
    ["vlan_id", subnet.vlan_id],
    ["ipv4_block", subnet.ipv4_block],
    ["ipv4_provision", rangeText(subnet.provision_start_ipv4, subnet.provision_end_ipv4)],
    ["ipv6_block", subnet.ipv6_block],
    ["ipv6_provision", rangeText(subnet.provision_start_ipv6, subnet.provision_end_ipv6)],
    ["owner_silos", subnet.owner_silos.length === 0 ? "(all)" : subnet.owner_silos.join(",")],
    ["created_at", subnet.created_at],
  ],
  all: (io) => io.all<ExternalSubnet>(EXTERNAL_SUBNETS_PATH),
  find: findExternalSubnet,
  record: (subnet) => subnet,
  path: ({ id }) => `${EXTERNAL_SUBNETS_PATH}/${id}`,
  title: titleOf,
};
