import type { Subnet } from "../../../src/contract/network.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../open-io.ts";
import { isUuid } from "../../internal/record-name.ts";
import { resolveRecord, resolveRouteTable, ROUTE_TABLE_FLAGS, VPC_FLAGS } from "../record/scope.ts";
import { SUBNET } from "./subnet.ts";

export function setRouteTable(): AnyCommand {
  return command("set-route-table", "Set the route table of a subnet", "front --vpc web --route-table public")
    .argument("<subnet>", "UUID, unique UUID prefix or name")
    .requiredOption(ROUTE_TABLE_FLAGS, "route table: UUID, unique UUID prefix or name")
    .option(VPC_FLAGS, "VPC in which names are looked up; by default the only VPC of the project")
    .action(withIo(async (io, name, { routeTable, vpc }) => {
      const id = await resolveRecord(io, SUBNET, { name, vpc });
      const path = `${SUBNET.path}/${id}`;
      // Looks up a name in --vpc, or in the subnet's VPC.
      const table_vpc = isUuid(routeTable) ? undefined : vpc ?? (await io.get<Subnet>(path)).vpc;
      const route_table_id = await resolveRouteTable(io, { routeTable, vpc: table_vpc });
      const subnet = await io.send<Subnet>({ method: "PUT", path: `${path}/route-table`, body: { route_table_id } });
      io.print(subnet, plainText(`Subnet ${subnet.id} uses route table ${subnet.route_table_id}`));
    }));
}
