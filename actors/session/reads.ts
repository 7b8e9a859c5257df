// Queries for sessions.
import { type Kysely, sql } from "kysely";
import type { SessionListed } from "../../src/contract/identity.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import type { Database } from "../../src/db/tables.ts";

/**
 * Returns the user of a session, if the password has not changed since the login. The session's actor checks the
 * expiry.
 */
export async function findSessionUser(db: Kysely<Database>, id: string) {
  return await db.selectFrom("session").innerJoin("user_loaded as of", "of.id", "session.user_id")
    .select(["of.id", "of.username", "of.is_root", "of.capabilities", "of.tenant_id", "of.silo_id"])
    .where("session.id", "=", id).whereRef("session.user_epoch", "=", "of.session_epoch").executeTakeFirst();
}

/**
 * Returns the sessions of a user that a login must end, oldest first. Counts only sessions with the key of the login,
 * or without a key if the login has none. Of these sessions and the new one, leaves the newest `keep`. Returns at most
 * `rows` sessions, because one commit writes them together with the login.
 */
export async function findDisplaced(
  db: Kysely<Database>,
  of: {
    readonly user_id: string;
    /**
     * The login ends only sessions of this key. If null, it ends only sessions without a key. A tenant's key belongs to
     * an operator, but its sessions must not displace the operator's own sessions.
     */
    readonly api_key_id: string | null;
    readonly keep: number;
    readonly rows: number;
  },
): Promise<string[]> {
  const own = db.selectFrom("session").select("id").where("user_id", "=", of.user_id)
    .where("api_key_id", "is not distinct from", of.api_key_id);
  const newest = own.orderBy("created_at", "desc").orderBy("id", "desc").limit(of.keep - 1);
  const found = await own
    .where("id", "not in", newest).orderBy("created_at").orderBy("id").limit(of.rows).execute();
  return found.map(({ id }) => id);
}

/** The sessions that a caller may list and end. */
export type OwnSessions = {
  readonly user_id: string;
  /**
   * If set, only the sessions of this key. A tenant's key belongs to an operator, but must not see the operator's own
   * sessions.
   */
  readonly of_key: string | null;
  readonly session_id: string | null;
};

/** Lists the live sessions of a caller, the newest first. */
export async function listSessions(
  db: Kysely<Database>,
  { user_id, of_key, session_id }: OwnSessions,
): Promise<SessionListed[]> {
  const rows = await db.selectFrom("session").innerJoin("user_account as of", "of.id", "session.user_id")
    .select([
      "session.id",
      "session.kind",
      "session.api_key_id",
      "session.created_at",
      "session.refreshed_at",
      "session.expires_at",
    ])
    .where("session.user_id", "=", user_id).whereRef("session.user_epoch", "=", "of.session_epoch")
    .where("session.expires_at", ">", sql<Date>`(select berth_now())`)
    // Omits sessions that are older than the record of the tenant's identity provider. They ended when an earlier
    // record of the provider was removed.
    .where(({ not, exists, selectFrom }) =>
      not(exists(
        selectFrom("tenant_idp as idp").select("idp.tenant_id").whereRef("idp.tenant_id", "=", "of.tenant_id")
          .whereRef("idp.issuer_url", "=", "of.issuer").whereRef("idp.created_at", ">=", "session.created_at"),
      ))
    )
    .$if(of_key !== null, (q) => q.where("session.api_key_id", "=", of_key))
    .orderBy("session.created_at", "desc").orderBy("session.id", "desc").execute();
  return rows.map(({ created_at, refreshed_at, expires_at, ...row }) => ({
    ...row,
    created_at: toRfc3339(created_at),
    refreshed_at: toRfc3339(refreshed_at),
    expires_at: toRfc3339(expires_at),
    is_current: row.id === session_id,
  }));
}
