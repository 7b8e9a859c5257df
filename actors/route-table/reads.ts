// Queries for route tables.
import type { Kysely } from "kysely";
import type { RouteTable } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import { type LabeledPage, reader } from "../record/reads.ts";
import { routeTable } from "./transition.ts";

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "vpc_id",
  "name",
  "description",
  "labels",
  "is_main",
  "created_at",
] as const;

const routeTables = reader("route_table", COLUMNS, routeTable.view);

export const findRouteTable = routeTables.find;

export type RouteTableQuery = LabeledPage & { readonly vpc_id: string };

/** Lists the route tables of a VPC in the order of their creation. */
export function listRouteTables(db: Kysely<Database>, { vpc_id, ...at }: RouteTableQuery): Promise<RouteTable[]> {
  return routeTables.page(db, { vpc_id }, at);
}
