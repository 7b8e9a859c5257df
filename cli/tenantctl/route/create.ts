import type { Route, RouteBody } from "../../../src/contract/network.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { resolveRouteTable, ROUTE_TABLE_FLAGS, VPC_FLAGS } from "../record/scope.ts";
import { ROUTE } from "./route.ts";
import { resolveTarget, targetWords } from "./target.ts";

export function create(): AnyCommand {
  return command("create", "Make a route; exactly one target is needed")
    .option(ROUTE_TABLE_FLAGS, "the route table: UUID; with --vpc also a unique UUID prefix or name")
    .option(VPC_FLAGS, "the VPC in which names are looked up")
    .requiredOption("--name <name>", "1 to 63 bytes")
    .option("--description <text>", "what it is for")
    .requiredOption("--destination <cidr>", "the network it leads to")
    .option("--target-nat-gateway <nat-gateway>", "through this NAT gateway: UUID, unique UUID prefix or name")
    .option("--target-blackhole", "nowhere, silently")
    .option("--target-reject", "nowhere, and the sender is told so")
    .option("--target-virtual-gateway", "through the virtual gateway of the VPC")
    .action(withIo(async (io, { routeTable, vpc, name, description, destination, ...flags }) => {
      const argv = targetWords(flags);
      const route_table = routeTable === undefined ? undefined : await resolveRouteTable(io, { routeTable, vpc });
      const target = await resolveTarget(io, argv, { route_table, vpc });
      const body: Omit<RouteBody, "description"> & { description?: string } = {
        name,
        description,
        destination,
        target,
      };
      const route = await io.send<Route>({ method: "POST", path: ROUTE.path, query: { route_table }, body });
      io.print(route, blockText(ROUTE.lines(route)));
    }));
}
