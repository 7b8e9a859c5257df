import type { Route, RouteBody } from "../../../src/contract/network.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { resolveRouteTable, ROUTE_TABLE_FLAGS, VPC_FLAGS } from "../record/scope.ts";
import { change, WAIT_OPTION } from "../record/wait.ts";
import { ROUTE } from "./route.ts";
import { resolveTarget, targetChoice } from "./target.ts";

export function create(): AnyCommand {
  return command(
    "create",
    "Create a route; pass exactly one target",
    "--vpc web --route-table main --name default --destination 0.0.0.0/0 --target-nat-gateway out",
  )
    .option(ROUTE_TABLE_FLAGS, "route table: UUID, unique UUID prefix or name")
    .option(VPC_FLAGS, "VPC in which names are looked up; by default the only VPC of the project")
    .requiredOption("--name <name>", "1 to 63 bytes")
    .option("--description <text>", "free-form description")
    .requiredOption("--destination <cidr>", "destination network")
    .option("--target-nat-gateway <nat-gateway>", "send packets to this NAT gateway: UUID, unique UUID prefix or name")
    .option("--target-blackhole", "drop packets silently")
    .option("--target-reject", "drop packets and notify the sender")
    .option("--target-virtual-gateway", "send packets to the VPC's virtual gateway")
    .option(...WAIT_OPTION)
    .action(withIo(async (io, { routeTable, vpc, name, description, destination, wait, ...flags }) => {
      const choice = targetChoice(flags);
      const route_table = routeTable === undefined ? undefined : await resolveRouteTable(io, { routeTable, vpc });
      const target = await resolveTarget(io, choice, { route_table, vpc });
      const body: Omit<RouteBody, "description" | "labels"> & { description?: string } = {
        name,
        description,
        destination,
        target,
      };
      const print = (route: Route) => io.print(route, blockText(ROUTE.lines(route)));
      await change(io, { method: "POST", path: ROUTE.path, query: { route_table }, body }, { wait, print });
    }));
}
