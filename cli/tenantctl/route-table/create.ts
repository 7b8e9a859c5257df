import type { RouteTable } from "../../../src/contract/network.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { givenOrSoleVpc, VPC_OPTION } from "../record/scope.ts";
import { ROUTE_TABLE } from "./route-table.ts";

export function create(): AnyCommand {
  return command("create", "Create a route table in a VPC", "--vpc web --name public")
    .option(...VPC_OPTION)
    .requiredOption("--name <name>", "1 to 63 bytes; unique in the VPC")
    .option("--description <text>", "free-form description")
    .action(withIo(async (io, { vpc, name, description }) => {
      const body = { name, description };
      const query = { vpc: await givenOrSoleVpc(io, vpc) };
      const table = await io.send<RouteTable>({ method: "POST", path: ROUTE_TABLE.path, query, body });
      io.print(table, blockText(ROUTE_TABLE.lines(table)));
    }));
}
