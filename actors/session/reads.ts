// What is read of sessions without going through their mailboxes.
import type { Kysely } from "kysely";
import type { Database } from "../../src/db/tables.ts";

/** The user of a session whose password is still the one that opened it. Whether it expired, its actor tells. */
export async function findSessionUser(db: Kysely<Database>, id: string) {
  return await db.selectFrom("session").innerJoin("user_loaded as of", "of.id", "session.user_id")
    .select(["of.id", "of.username", "of.is_root", "of.capabilities", "of.tenant_id", "of.silo_id"])
    .where("session.id", "=", id).whereRef("session.user_epoch", "=", "of.session_epoch").executeTakeFirst();
}
