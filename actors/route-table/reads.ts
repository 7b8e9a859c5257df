// What is read of route tables without going through their mailboxes.
import type { Kysely } from "kysely";
import type { RouteTable } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import type { IdPage } from "../../src/lib/ids/page-token.ts";
import { routeTableView } from "./transition.ts";

type Db = Kysely<Database>;

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "vpc_id",
  "name",
  "description",
  "is_main",
  "created_at",
] as const;

export type RouteTableQuery = IdPage & { readonly vpc_id: string };

/** Those of a VPC, in the order of their ids. */
export async function listRouteTables(db: Db, { vpc_id, after, rows }: RouteTableQuery): Promise<RouteTable[]> {
  const found = await db.selectFrom("route_table").select(COLUMNS).where("vpc_id", "=", vpc_id)
    .$if(after !== undefined, (q) => q.where("id", ">", after!)).orderBy("id").limit(rows).execute();
  return found.map((row) => routeTableView({ ...row, state: "live" }));
}

export async function findRouteTable(db: Db, id: string): Promise<RouteTable | undefined> {
  const row = await db.selectFrom("route_table").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && routeTableView({ ...row, state: "live" });
}
