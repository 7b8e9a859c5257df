// Queries for sessions.
import type { Kysely } from "kysely";
import type { Database } from "../../src/db/tables.ts";

/** Returns the user of a session, if the password has not changed since the login. The actor checks the expiry. */
export async function findSessionUser(db: Kysely<Database>, id: string) {
  return await db.selectFrom("session").innerJoin("user_loaded as of", "of.id", "session.user_id")
    .select(["of.id", "of.username", "of.is_root", "of.capabilities", "of.tenant_id", "of.silo_id"])
    .where("session.id", "=", id).whereRef("session.user_epoch", "=", "of.session_epoch").executeTakeFirst();
}

/**
 * Returns the sessions of a user that a login must end so that at most `keep` sessions remain, oldest first. Returns at
 * most `rows`, because one commit writes them together with the login.
 */
export async function findDisplaced(
  db: Kysely<Database>,
  of: { readonly user_id: string; readonly keep: number; readonly rows: number },
): Promise<string[]> {
  const newest = db.selectFrom("session").select("id").where("user_id", "=", of.user_id)
    .orderBy("created_at", "desc").orderBy("id", "desc").limit(of.keep - 1);
  const found = await db.selectFrom("session").select("id").where("user_id", "=", of.user_id)
    .where("id", "not in", newest).orderBy("created_at").orderBy("id").limit(of.rows).execute();
  return found.map(({ id }) => id);
}
