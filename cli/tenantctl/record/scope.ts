// Where a record is: the selectors of its list, from --vpc, --route-table and --instance and, for what a project holds, the
// global flags. A UUID is taken as it is; a name is looked up in the list that holds it.
import type { RouteTable, Vpc } from "../../../src/contract/network.ts";
import type { AnyCommand } from "../../framework.ts";
import { usageFailure } from "../../internal/failure.ts";
import type { Query } from "../../internal/exchange.ts";
import type { TenantIo } from "../open-io.ts";
import { projectScope } from "../scope.ts";
import { isUuid } from "../../internal/record-name.ts";
import type { KindPlace } from "./kind.ts";
import { type Named, pick } from "./pick.ts";

export type PlaceWords = { readonly vpc?: string; readonly routeTable?: string; readonly instance?: string };

export const VPC_FLAGS = "--vpc <vpc>";
export const ROUTE_TABLE_FLAGS = "--route-table <route-table>";
export const VPC_OPTION = [VPC_FLAGS, "the VPC: UUID, unique UUID prefix or name"] as const;
export const INSTANCE_FLAGS = "--instance <instance>";
export const INSTANCE_OPTION = [INSTANCE_FLAGS, "the instance: UUID, unique UUID prefix or name"] as const;
export const NAMED_BY = "UUID, unique UUID prefix or name";
const VPCS = { path: "/v1/vpcs", argv: "VPC", plural: "VPCs" };
const ROUTE_TABLES = { path: "/v1/route-tables", argv: "route table", plural: "route tables" };
const INSTANCES = { path: "/v1/instances", argv: "instance", plural: "instances" };

/** The options that say in what a record is listed or made. */
export function addParentOptions(made: AnyCommand, { parent, needs_vpc }: KindPlace): AnyCommand {
  switch (parent) {
    case "project":
      return made;
    case "vpc":
      return needs_vpc === true ? made.requiredOption(...VPC_OPTION) : made.option(...VPC_OPTION);
    case "route-table":
      return made
        .option(ROUTE_TABLE_FLAGS, "the route table: UUID; with --vpc also a unique UUID prefix or name")
        .option(VPC_FLAGS, "the VPC in which a route table is looked up by name");
    case "instance":
      return made.requiredOption(...INSTANCE_OPTION);
  }
}

/** The argument that names a record, and the options that say where it is looked up by name. */
export function addNameArgument(made: AnyCommand, { noun, parent }: KindPlace): AnyCommand {
  switch (parent) {
    case "project":
      return made.argument(`<${noun}>`, NAMED_BY);
    case "vpc":
      return made
        .argument(`<${noun}>`, "UUID; with --vpc also a unique UUID prefix or name")
        .option(VPC_FLAGS, "the VPC in which a name is looked up");
    case "route-table":
      return made
        .argument(`<${noun}>`, "UUID; with --route-table also a unique UUID prefix or name")
        .option(ROUTE_TABLE_FLAGS, "the route table in which a name is looked up")
        .option(VPC_FLAGS, "the VPC in which a route table is looked up by name");
    case "instance":
      return made
        .argument(`<${noun}>`, "UUID; with --instance also a unique UUID prefix or name")
        .option(INSTANCE_FLAGS, "the instance whose it is: UUID, unique UUID prefix or name");
  }
}

/** The selectors of the list that holds records of this kind. What nobody gave is left out, for the server to ask for. */
export async function listQuery(io: TenantIo, { parent, sends_project }: KindPlace, argv: PlaceWords): Promise<Query> {
  switch (parent) {
    case "project":
      return await projectScope(io);
    case "vpc": {
      const vpc = argv.vpc === undefined ? undefined : await resolveVpc(io, argv.vpc);
      return sends_project === true ? { vpc, project: await io.project() } : { vpc };
    }
    case "route-table":
      return { route_table: argv.routeTable === undefined ? undefined : await resolveRouteTable(io, argv) };
    case "instance":
      return { instance: argv.instance === undefined ? undefined : await resolveInstance(io, argv.instance) };
  }
}

export async function resolveVpc(io: TenantIo, name: string): Promise<string> {
  if (isUuid(name)) return name.toLowerCase();
  return pick(await io.all<Vpc>(VPCS.path, await projectScope(io)), { name, ...VPCS }).id;
}

export async function resolveInstance(io: TenantIo, name: string): Promise<string> {
  if (isUuid(name)) return name.toLowerCase();
  return pick(await io.all<Named>(INSTANCES.path, await projectScope(io)), { name, ...INSTANCES }).id;
}

export async function resolveRouteTable(io: TenantIo, { routeTable: name = "", vpc }: PlaceWords): Promise<string> {
  if (isUuid(name)) return name.toLowerCase();
  if (vpc === undefined) throw notUuid(name, "route table", "--vpc");
  return pick(await io.all<RouteTable>(ROUTE_TABLES.path, { vpc: await resolveVpc(io, vpc) }), {
    name,
    ...ROUTE_TABLES,
  })
    .id;
}

/** The UUID of the record that a command line names. */
export async function resolveRecord(
  io: TenantIo,
  kind: KindPlace,
  { name, ...place }: PlaceWords & { readonly name: string },
): Promise<string> {
  if (isUuid(name)) return name.toLowerCase();
  if (kind.parent === "vpc" && place.vpc === undefined) throw notUuid(name, kind.argv, "--vpc");
  if (kind.parent === "route-table" && place.routeTable === undefined) throw notUuid(name, kind.argv, "--route-table");
  if (kind.parent === "instance" && place.instance === undefined) throw notUuid(name, kind.argv, "--instance");
  const { argv, plural } = kind;
  return pick(await io.all<Named>(kind.path, await listQuery(io, kind, place)), { name, argv, plural }).id;
}

function notUuid(name: string, argv: string, flag: string) {
  return usageFailure(`${name} is not the UUID of a ${argv}; to find it by name, pass ${flag} too`);
}
