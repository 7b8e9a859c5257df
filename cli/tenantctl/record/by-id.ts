// Finds a record by a prefix of its UUID in all lists of the project. Used if the command line does not select the
// record's VPC, route table or instance.
import type { RouteTable, Vpc } from "../../../src/contract/network.ts";
import type { Query } from "../../internal/exchange.ts";
import { inParallel } from "../../internal/in-parallel.ts";
import { isIdPrefix, pickRecord } from "../../internal/record-name.ts";
import type { TenantIo } from "../open-io.ts";
import { projectScope } from "../scope.ts";
import type { KindScope } from "./kind.ts";
import type { Named } from "./pick.ts";

const REQUESTS_AT_ONCE = 8;

type Wanted = Pick<KindScope, "path" | "singular" | "plural" | "parent" | "sends_project">;

/**
 * Returns the UUID that begins with the text, or null if no record of the project has such a UUID. Throws a Failure if
 * several records have one.
 */
export async function findByPrefix(io: TenantIo, kind: Wanted, text: string): Promise<string | null> {
  if (!isIdPrefix(text)) return null;
  const { singular: one, plural: many } = kind;
  const queries = await queriesOf(io, kind);
  const found = await inParallel(REQUESTS_AT_ONCE, queries, (query) => io.all<Named>(kind.path, query));
  const fitting = found.flat().filter(({ id }) => id.startsWith(text.toLowerCase()));
  if (fitting.length === 0) return null;
  return pickRecord(fitting, text, { one, many, id: ({ id }) => id, title: ({ name }) => name }).id;
}

/** Returns the selectors of the lists that, together, have all records of this kind in the project. */
async function queriesOf(io: TenantIo, { parent, sends_project }: Wanted): Promise<Query[]> {
  const scope = await projectScope(io);
  if (parent === "project" || parent === "instance") return [scope];
  const vpcs = await io.all<Vpc>("/v1/vpcs", scope);
  if (parent === "vpc") {
    return vpcs.map(({ id }) => ({ vpc: id, ...sends_project === true && { project: scope.project } }));
  }
  const tables = await inParallel(
    REQUESTS_AT_ONCE,
    vpcs,
    ({ id }) => io.all<RouteTable>("/v1/route-tables", { vpc: id, project: scope.project }),
  );
  return tables.flat().map(({ id }) => ({ route_table: id }));
}
