// Resolves an access token to its user. The session is looked up on every request, so that a logout, a new password or
// the deletion of the user takes effect immediately in every process.
import { createLookup } from "../db/lookup.ts";
import type { Db } from "../db/pool.ts";
import type { Credential } from "./credential.ts";
import type { KnownPrincipal, Person } from "./principal.ts";
import type { SessionTokens } from "./token.ts";

type SessionRow = Person & {
  readonly session_id: string;
  readonly now: Date;
};

const LOOKUP = `
  select s.id as session_id, s.user_id, u.username, u.is_root, u.capabilities, u.tenant_id,
         case when 'silo-admin' = any(u.capabilities) then t.silo_id end as silo_id, t.silo_id as home_silo_id,
         (select berth_now()) as now
    from session s join user_account u on u.id = s.user_id and u.session_epoch = s.user_epoch
    left join tenant t on t.id = u.tenant_id
   where s.id = any($1) and s.expires_at > (select berth_now())`;

export function createSessionCredential(db: Db, tokens: SessionTokens) {
  const find = createSessionLookup(db);

  return async function sessionCredential(token: string): Promise<Credential | null> {
    const claims = await tokens.readAccess(token);
    if (claims === null) return null;
    const row = await find(claims.sid);
    const expires_at = new Date(claims.exp * 1_000);
    if (row === null || row.user_id !== claims.sub || row.now >= expires_at) return null;
    return { principal: principalOf(row, expires_at), pending: false };
  };
}

/** Returns the function that finds the principal of a login session by its id; null for a session that has ended. */
export function createSessionReference(db: Db) {
  const find = createSessionLookup(db);

  return async function sessionReference(id: string): Promise<KnownPrincipal | null> {
    const row = await find(id);
    return row === null ? null : principalOf(row, null);
  };
}

function createSessionLookup(db: Db) {
  return createLookup<SessionRow>(async (ids) => {
    const { rows } = await db.byKey.query<SessionRow>(LOOKUP, [ids]);
    return new Map(rows.map((row) => [row.session_id, row]));
  });
}

function principalOf({ now: _now, ...rest }: SessionRow, expires_at: Date | null): KnownPrincipal {
  const none = { key_id: null, key_tenant_id: null, bound_cn: null };
  return { kind: "user", ...rest, ...none, scope: "full", expires_at };
}
