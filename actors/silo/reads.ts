// What is read of silos without going through their mailboxes.
import type { Kysely } from "kysely";
import type { Silo } from "../../src/contract/tenancy.ts";
import type { Database } from "../../src/db/tables.ts";
import { siloView } from "./transition.ts";

type Db = Kysely<Database>;

const COLUMNS = ["id", "name", "description", "default_tenant_id", "created_at"] as const;

/** Oldest first. */
export async function listSilos(db: Db, rows: number): Promise<Silo[]> {
  const found = await db.selectFrom("silo").select(COLUMNS).orderBy("created_at").orderBy("id").limit(rows).execute();
  return found.map((row) => siloView({ ...row, state: "live" }));
}

export async function findSilo(db: Db, id: string): Promise<Silo | undefined> {
  const row = await db.selectFrom("silo").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && siloView({ ...row, state: "live" });
}
