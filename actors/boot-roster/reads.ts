// Queries for the declared roster.
import { type Kysely, sql } from "kysely";
import type { Roster } from "../../src/contract/boot.ts";
import type { Database } from "../../src/db/tables.ts";
import { BOOT_ROSTER } from "./transition.ts";

/**
 * Returns the first member of the declared aggregate that has this port, or the port itself if no aggregate has it. All
 * members of an aggregate are ports of one machine, so they share the boot record of the first member.
 */
export async function findBootPort(db: Kysely<Database>, mac: string): Promise<string> {
  const { rows } = await sql<{ first: string }>`
    select e->'aggregate'->'macs'->>0 as first from boot_roster, jsonb_array_elements(entries) e
     where id = ${BOOT_ROSTER.id} and e->'aggregate'->'macs' ? ${mac} limit 1`.execute(db);
  return rows[0]?.first ?? mac;
}

export async function findRoster(db: Kysely<Database>): Promise<Roster> {
  const row = await db.selectFrom("boot_roster").select("entries").where("id", "=", BOOT_ROSTER.id).executeTakeFirst();
  return row?.entries ?? [];
}
