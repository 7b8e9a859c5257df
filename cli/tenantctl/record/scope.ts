// Builds the selectors of the list in which a record is looked up by name. They come from --vpc, --route-table and
// --instance, and for records of a project from the global flags. A UUID needs no lookup.
import type { RouteTable, Vpc } from "../../../src/contract/network.ts";
import type { AnyCommand } from "../../framework.ts";
import { usageFailure } from "../../internal/failure.ts";
import type { Query } from "../../internal/exchange.ts";
import type { TenantIo } from "../open-io.ts";
import { projectScope } from "../scope.ts";
import { isUuid } from "../../internal/record-name.ts";
import { findByPrefix } from "./by-id.ts";
import type { KindScope } from "./kind.ts";
import { type Named, pick } from "./pick.ts";

export type ScopeFlags = { readonly vpc?: string; readonly routeTable?: string; readonly instance?: string };

export const VPC_FLAGS = "--vpc <vpc>";
export const ROUTE_TABLE_FLAGS = "--route-table <route-table>";
export const VPC_OPTION = [
  VPC_FLAGS,
  "VPC: UUID, unique UUID prefix or name; by default the only VPC of the project",
] as const;
export const INSTANCE_FLAGS = "--instance <instance>";
export const INSTANCE_OPTION = [INSTANCE_FLAGS, "instance: UUID, unique UUID prefix or name"] as const;
export const NAME_HELP = "UUID, unique UUID prefix or name";
const OF_ROUTE_TABLE_HELP = "VPC in which a route table is looked up by name; by default the only VPC of the project";
const VPCS = { path: "/v1/vpcs", singular: "VPC", plural: "VPCs" };
const ROUTE_TABLES = {
  path: "/v1/route-tables",
  singular: "route table",
  plural: "route tables",
  parent: "vpc",
} as const;
const INSTANCES = { path: "/v1/instances", singular: "instance", plural: "instances" };

/** Maximum number of VPCs that a failure names. */
const VPCS_NAMED_MAX = 5;

/** Adds the options that select the parent of a record. */
export function addParentOptions(made: AnyCommand, { parent }: KindScope): AnyCommand {
  switch (parent) {
    case "project":
      return made;
    case "vpc":
      return made.option(...VPC_OPTION);
    case "route-table":
      return made
        .option(ROUTE_TABLE_FLAGS, "route table: UUID, unique UUID prefix or name")
        .option(VPC_FLAGS, OF_ROUTE_TABLE_HELP);
    case "instance":
      return made.requiredOption(...INSTANCE_OPTION);
  }
}

/** Returns the words after `list` in the example of help. */
export function parentExample({ parent }: KindScope): string {
  switch (parent) {
    case "project":
      return "";
    case "vpc":
      return "--vpc web";
    case "route-table":
      return "--vpc web --route-table public";
    case "instance":
      return "--instance web1";
  }
}

/** Returns the words after a verb that acts on one record, in the example of help. */
export function nameExample(kind: KindScope): string {
  return `${kind.sample} ${parentExample(kind)}`.trimEnd();
}

/** Adds the argument that names a record, and the options that select where the name is looked up. */
export function addNameArgument(made: AnyCommand, { noun, parent }: KindScope): AnyCommand {
  switch (parent) {
    case "project":
      return made.argument(`<${noun}>`, NAME_HELP);
    case "vpc":
      return made
        .argument(`<${noun}>`, NAME_HELP)
        .option(VPC_FLAGS, "VPC in which a name is looked up; by default the only VPC of the project");
    case "route-table":
      return made
        .argument(`<${noun}>`, "UUID or unique UUID prefix; with --route-table also a name")
        .option(ROUTE_TABLE_FLAGS, "route table in which a name is looked up")
        .option(VPC_FLAGS, OF_ROUTE_TABLE_HELP);
    case "instance":
      return made
        .argument(`<${noun}>`, "UUID or unique UUID prefix; with --instance also a name")
        .option(INSTANCE_FLAGS, "instance in which a name is looked up: UUID, unique UUID prefix or name");
  }
}

/**
 * Returns the selectors of the list of this kind. A selector that was not given and cannot be derived is undefined; the
 * server's error then names it.
 */
export async function listQuery(io: TenantIo, { parent, sends_project }: KindScope, flags: ScopeFlags): Promise<Query> {
  switch (parent) {
    case "project":
      return await projectScope(io);
    case "vpc": {
      const vpc = flags.vpc === undefined ? undefined : await resolveVpc(io, flags.vpc);
      return sends_project === true ? { vpc, project: await io.project() } : { vpc };
    }
    case "route-table":
      return { route_table: flags.routeTable === undefined ? undefined : await resolveRouteTable(io, flags) };
    case "instance":
      return { instance: flags.instance === undefined ? undefined : await resolveInstance(io, flags.instance) };
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

export async function resolveRouteTable(io: TenantIo, { routeTable: name = "", vpc }: ScopeFlags): Promise<string> {
  if (isUuid(name)) return name.toLowerCase();
  const in_vpc = vpc ?? await onlyVpc(io);
  if (in_vpc === undefined) return await unscoped(io, ROUTE_TABLES, name);
  const tables = await io.all<RouteTable>(ROUTE_TABLES.path, { vpc: await resolveVpc(io, in_vpc) });
  return pick(tables, { name, ...ROUTE_TABLES }).id;
}

/** Returns the UUID of the named record. A UUID needs no lookup. Throws a Failure unless exactly one record matches. */
export async function resolveRecord(
  io: TenantIo,
  kind: KindScope,
  { name, ...flags }: ScopeFlags & { readonly name: string },
): Promise<string> {
  if (isUuid(name)) return name.toLowerCase();
  if (kind.parent === "vpc" && flags.vpc === undefined) {
    const vpc = await onlyVpc(io);
    return vpc === undefined ? await unscoped(io, kind, name) : await resolveRecord(io, kind, { name, vpc });
  }
  const lacks_parent = kind.parent === "route-table" && flags.routeTable === undefined ||
    kind.parent === "instance" && flags.instance === undefined;
  if (lacks_parent) return await unscoped(io, kind, name);
  const { singular, plural } = kind;
  return pick(await io.all<Named>(kind.path, await listQuery(io, kind, flags)), { name, singular, plural }).id;
}

const PARENT_FLAGS = {
  project: "--project",
  vpc: "--vpc",
  "route-table": "--route-table",
  instance: "--instance",
} as const;

/**
 * Finds a record by the beginning of its UUID, for a command line that selects no VPC, route table or instance. If no
 * UUID begins with the text, throws a usage Failure that names the missing option.
 */
async function unscoped(io: TenantIo, kind: Parameters<typeof findByPrefix>[1], name: string): Promise<string> {
  const found = await findByPrefix(io, kind, name);
  if (found !== null) return found;
  const flag = PARENT_FLAGS[kind.parent];
  const vpcs = kind.parent === "vpc" ? await vpcsText(io) : null;
  throw usageFailure(
    vpcs === null
      ? `${name} is not the id of a ${kind.singular}; to find it by name, also pass ${flag}`
      : `${vpcs}; pass ${flag} to find the ${kind.singular} ${name} by name`,
  );
}

/** Returns a text such as `the project has 2 VPCs (web, db)`, or null if the project is unknown. */
export async function vpcsText(io: TenantIo): Promise<string | null> {
  const scope = await projectScope(io);
  if (scope.project === undefined) return null;
  const names = (await io.all<Vpc>(VPCS.path, scope)).map(({ name }) => name);
  if (names.length < 2) return names.length === 0 ? "the project has no VPC" : "the project has one VPC";
  const more = names.length > VPCS_NAMED_MAX ? ", …" : "";
  return `the project has ${names.length} VPCs (${names.slice(0, VPCS_NAMED_MAX).join(", ")}${more})`;
}

/**
 * Returns the UUID of the VPC that the command line names, or of the only VPC of the project. Returns undefined if the
 * command line names no VPC and the project does not have exactly one. The server's error then names the selector.
 */
export async function givenOrSoleVpc(io: TenantIo, name: string | undefined): Promise<string | undefined> {
  return name === undefined ? await onlyVpc(io) : await resolveVpc(io, name);
}

/** Returns the UUID that givenOrSoleVpc finds, for the path of a request. Throws a usage Failure if it finds no VPC. */
export async function needVpc(io: TenantIo, name: string | undefined): Promise<string> {
  const vpc = await givenOrSoleVpc(io, name);
  if (vpc !== undefined) return vpc;
  const vpcs = await vpcsText(io);
  throw usageFailure(vpcs === null ? "--vpc is required" : `${vpcs}; pass --vpc`);
}

/** For a list of records of a VPC, selects the project's only VPC if the command line selects none. */
export async function withSoleVpc(io: TenantIo, { parent }: KindScope, flags: ScopeFlags): Promise<ScopeFlags> {
  return parent === "vpc" && flags.vpc === undefined ? { ...flags, vpc: await onlyVpc(io) } : flags;
}

/**
 * Returns the UUID of the only VPC of the project. Prints a note that names the VPC, unless the output is JSON. Returns
 * undefined if the project is unknown, has no VPC or has several.
 */
async function onlyVpc(io: TenantIo): Promise<string | undefined> {
  const scope = await projectScope(io);
  const [only, other] = scope.project === undefined ? [] : await io.all<Vpc>(VPCS.path, scope);
  if (only === undefined || other !== undefined) return undefined;
  if (!io.json) io.note(`In VPC ${only.name}, the only one of the project`);
  return only.id;
}
