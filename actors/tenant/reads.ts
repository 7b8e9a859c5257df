// What is read of tenants without going through their mailboxes.
import type { Kysely } from "kysely";
import type { Tenant } from "../../src/contract/tenancy.ts";
import type { Database } from "../../src/db/tables.ts";
import { tenantView } from "./transition.ts";

type Db = Kysely<Database>;

const COLUMNS = ["id", "silo_id", "name", "description", "created_at"] as const;

/** Those of a silo, oldest first. */
export async function listTenants(db: Db, silo_id: string, rows: number): Promise<Tenant[]> {
  const found = await db.selectFrom("tenant").select(COLUMNS).where("silo_id", "=", silo_id)
    .orderBy("created_at").orderBy("id").limit(rows).execute();
  return found.map((row) => tenantView({ ...row, state: "live" }));
}

export async function findTenant(db: Db, id: string): Promise<Tenant | undefined> {
  const row = await db.selectFrom("tenant").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && tenantView({ ...row, state: "live" });
}
