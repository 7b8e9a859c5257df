// Queries for routes.
import type { Kysely } from "kysely";
import type { Route } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import { type LabeledPage, reader } from "../record/reads.ts";
import { route } from "./transition.ts";

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "vpc_id",
  "route_table_id",
  "name",
  "description",
  "labels",
  "destination",
  "target_kind",
  "nat_gateway_id",
  "created_at",
] as const;

const routes = reader("route", COLUMNS, route.view);

export const findRoute = routes.find;

export type RouteQuery = LabeledPage & { readonly route_table_id: string };

/** Lists the routes of a route table in the order of their creation. */
export function listRoutes(db: Kysely<Database>, { route_table_id, ...at }: RouteQuery): Promise<Route[]> {
  return routes.page(db, { route_table_id }, at);
}
