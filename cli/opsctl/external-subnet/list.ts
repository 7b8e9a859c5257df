import type { ExternalSubnet } from "../../../src/contract/external-network.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { type Column, ID_COLUMN } from "../../internal/table.ts";
import { EXTERNAL_SUBNETS_PATH } from "./subnet.ts";

const COLUMNS: readonly Column<ExternalSubnet>[] = [
  ["NAME", (subnet) => subnet.name],
  ["ID", (subnet) => subnet.id, ID_COLUMN],
  ["NIC_TAG", (subnet) => subnet.nic_tag],
  ["VLAN_ID", (subnet) => subnet.vlan_id],
  ["IPV4_BLOCK", (subnet) => subnet.ipv4_block],
  ["IPV6_BLOCK", (subnet) => subnet.ipv6_block],
  ["OWNER_SILOS", (subnet) => subnet.owner_silos.length === 0 ? "(all)" : subnet.owner_silos.length],
  ["DESCRIPTION", (subnet) => subnet.description],
];

export function list(): AnyCommand {
  return listCommand("list", "List external subnets")
    .action(withIo(async (io) => {
      const items = await io.all<ExternalSubnet>(EXTERNAL_SUBNETS_PATH);
      io.table({ items }, items, COLUMNS, "(no external subnets)");
    }));
}
