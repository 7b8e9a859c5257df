import type { ExternalSubnet } from "../../../src/contract/external-network.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";
import { EXTERNAL_SUBNETS_PATH } from "./subnet.ts";

const COLUMNS: readonly Column<ExternalSubnet>[] = [
  ["ID", (subnet) => subnet.id],
  ["NAME", (subnet) => subnet.name],
  ["NIC_TAG", (subnet) => subnet.nic_tag],
  ["VLAN_ID", (subnet) => subnet.vlan_id],
  ["IPV4_BLOCK", (subnet) => subnet.ipv4_block],
  ["IPV6_BLOCK", (subnet) => subnet.ipv6_block],
  ["OWNER_SILOS", (subnet) => subnet.owner_silos.length === 0 ? "(all)" : subnet.owner_silos.length],
  ["DESCRIPTION", (subnet) => subnet.description],
];

export function list(): AnyCommand {
  return command("list", "List external subnets")
    .action(withIo(async (io) => {
      const items = await io.all<ExternalSubnet>(EXTERNAL_SUBNETS_PATH);
      io.table({ items }, items, COLUMNS, "(no external subnets)");
    }));
}
