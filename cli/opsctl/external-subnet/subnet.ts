// Shared by the external subnet verbs: finding and printing a subnet.
import type { ExternalSubnet } from "../../../src/contract/external-network.ts";
import type { Io } from "../../internal/io.ts";
import { blockText } from "../../internal/table.ts";
import { findRecord, named } from "../../internal/record-name.ts";

export const EXTERNAL_SUBNETS_PATH = "/v1/system/external-subnets";
export const EXTERNAL_SUBNET_ARGUMENT = ["<external-subnet>", "UUID, unique UUID prefix or name"] as const;
export const EXTERNAL_SUBNET = named<ExternalSubnet>("external subnet", "opsctl external-subnet list");

export async function findExternalSubnet(io: Io, name: string): Promise<ExternalSubnet> {
  return await findRecord(io, name, { path: EXTERNAL_SUBNETS_PATH, kind: EXTERNAL_SUBNET });
}

/** Returns `203.0.113.10-203.0.113.99`, or null if the whole block is used. */
function rangeText(start: string | null, end: string | null): string | null {
  return start === null && end === null ? null : `${start ?? ""}-${end ?? ""}`;
}

export function externalSubnetText(subnet: ExternalSubnet): string {
  return blockText([
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
  ]);
}
