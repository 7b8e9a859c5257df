// Queries for the declared roster.
import type { Kysely } from "kysely";
import type { Roster } from "../../src/contract/boot.ts";
import type { Database } from "../../src/db/tables.ts";
import { BOOT_ROSTER } from "./transition.ts";

export async function findRoster(db: Kysely<Database>): Promise<Roster> {
  const row = await db.selectFrom("boot_roster").select("entries").where("id", "=", BOOT_ROSTER.id).executeTakeFirst();
  return row?.entries ?? [];
}
