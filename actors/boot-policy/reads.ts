// Queries for the boot policy.
import type { Kysely } from "kysely";
import type { BootPolicy } from "../../src/contract/boot.ts";
import type { Database } from "../../src/db/tables.ts";
import { keptRow } from "../record/reads.ts";
import { BOOT_POLICY, policyView, STANDARD_POLICY } from "./transition.ts";

const select = (db: Kysely<Database>) => db.selectFrom("boot_policy").where("id", "=", BOOT_POLICY.id);
const findRow = keptRow(
  (db) => select(db).select(["version", "updated_at"]).executeTakeFirst(),
  (db) => select(db).selectAll().executeTakeFirst(),
);

/**
 * Returns the policy in force and its version. Version 0 is the standard policy, which applies until an operator sets a
 * policy.
 */
export async function findPolicy(db: Kysely<Database>): Promise<{ policy: BootPolicy; version: number }> {
  const row = await findRow(db);
  return row === undefined
    ? { policy: STANDARD_POLICY, version: 0 }
    : { policy: policyView(row), version: row.version };
}
