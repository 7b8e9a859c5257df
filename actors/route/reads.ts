// What is read of routes without going through their mailboxes.
import type { Kysely } from "kysely";
import type { Route } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import type { IdPage } from "../../src/lib/ids/page-token.ts";
import { routeView } from "./transition.ts";

type Db = Kysely<Database>;

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "vpc_id",
  "route_table_id",
  "name",
  "description",
  "destination",
  "target_kind",
  "nat_gateway_id",
  "created_at",
] as const;

export type RouteQuery = IdPage & { readonly route_table_id: string };

/** Those of a route table, in the order of their ids, which is that of their creation. */
export async function listRoutes(db: Db, { route_table_id, after, rows }: RouteQuery): Promise<Route[]> {
  const found = await db.selectFrom("route").select(COLUMNS).where("route_table_id", "=", route_table_id)
    .$if(after !== undefined, (q) => q.where("id", ">", after!)).orderBy("id").limit(rows).execute();
  return found.map((row) => routeView({ ...row, state: "live" }));
}

export async function findRoute(db: Db, id: string): Promise<Route | undefined> {
  const row = await db.selectFrom("route").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && routeView({ ...row, state: "live" });
}
