// Resolves the token of a login session to its user. The session is looked up on every request. Therefore a logout, a
// new password, the deletion of the user and the removal of the user's issuer take effect immediately in every process.
// If the issuer is set again, the earlier sessions of its users stay ended. A session that a key opened has the rights
// of the key, and ends with the key.
import type { KeyScope, SessionKind } from "../contract/enums.ts";
import { createLookup } from "../db/lookup.ts";
import type { Db } from "../db/pool.ts";
import { createApiKeyReference } from "./api-key-credential.ts";
import type { Credential } from "./credential.ts";
import type { KnownPrincipal, Person } from "./principal.ts";
import type { SessionTokens } from "./token.ts";

type SessionRow = Person & {
  readonly session_id: string;
  readonly kind: SessionKind;
  readonly api_key_id: string | null;
  readonly granted_root: boolean;
  readonly granted_scope: KeyScope | null;
  readonly refreshed_at: Date;
  readonly expires_at: Date;
  readonly now: Date;
};

const LOOKUP = `
  select s.id as session_id, s.user_id, u.username, u.is_root, u.capabilities, u.tenant_id,
         case when 'silo-admin' = any(u.capabilities) then t.silo_id end as silo_id, t.silo_id as home_silo_id,
         s.kind, s.api_key_id, s.granted_root, s.granted_scope, s.refreshed_at, s.expires_at,
         (select berth_now()) as now
    from session s join user_account u on u.id = s.user_id and u.session_epoch = s.user_epoch
    left join tenant t on t.id = u.tenant_id
   where s.id = any($1) and s.expires_at > (select berth_now())
     and (u.issuer is null or u.issuer = $2
          or exists (select from tenant_idp i where i.issuer_url = u.issuer and i.tenant_id = u.tenant_id
                                                and i.created_at < s.created_at))`;

export type SessionSource = {
  readonly db: Db;
  /** The issuer of the identity service; null: the site has no identity service. */
  readonly identity_issuer: string | null;
};

/** Returns the function that resolves an access token. */
export function createSessionCredential(source: SessionSource, tokens: SessionTokens) {
  const find = createSessionLookup(source);

  return async function sessionCredential(token: string): Promise<Credential | null> {
    const claims = await tokens.readAccess(token);
    if (claims === null) return null;
    const row = await find(claims.sid);
    const expires_at = new Date(claims.exp * 1_000);
    if (row === null || row.kind !== "token" || row.user_id !== claims.sub || row.now >= expires_at) return null;
    return { principal: principalOf(row, expires_at), pending: false };
  };
}

/** Returns the function that resolves the token in the cookie of the web console. */
export function createWebSessionCredential(source: SessionSource, tokens: SessionTokens) {
  const find = createSessionLookup(source);
  const ofKey = createApiKeyReference(source.db);

  return async function webSessionCredential(token: string): Promise<Credential | null> {
    const claims = await tokens.readWeb(token);
    if (claims === null) return null;
    const row = await find(claims.sid);
    if (row === null || row.kind !== "web" || row.user_id !== claims.sub) return null;
    const principal = row.api_key_id === null
      ? principalOf(row, row.expires_at)
      : ofSession(await ofKey(row.api_key_id), row);
    if (principal === null) return null;
    const idle_s = (row.now.getTime() - row.refreshed_at.getTime()) / 1_000;
    return { principal, pending: false, idle_s };
  };
}

/** Returns the function that finds the principal of a login session by its id; null for a session that has ended. */
export function createSessionReference(source: SessionSource) {
  const find = createSessionLookup(source);

  return async function sessionReference(id: string): Promise<KnownPrincipal | null> {
    const row = await find(id);
    return row === null ? null : principalOf(row, null);
  };
}

function createSessionLookup({ db, identity_issuer }: SessionSource) {
  return createLookup<SessionRow>(async (ids) => {
    const { rows } = await db.byKey.query<SessionRow>(LOOKUP, [ids, identity_issuer]);
    return new Map(rows.map((row) => [row.session_id, row]));
  });
}

/** Returns the principal of the key that opened the session. */
function ofSession(principal: KnownPrincipal | null, { session_id, expires_at }: SessionRow): KnownPrincipal | null {
  if (principal === null) return null;
  const end = principal.expires_at ?? expires_at;
  return { ...principal, session_id, expires_at: end < expires_at ? end : expires_at };
}

function principalOf(row: SessionRow, expires_at: Date | null): KnownPrincipal {
  const { session_id, user_id, username, is_root, capabilities, tenant_id, silo_id, home_silo_id } = row;
  const whose = { user_id, username, is_root: is_root || row.granted_root, capabilities };
  const where = { tenant_id, silo_id, home_silo_id };
  const none = { key_id: null, key_expires_at: null, key_tenant_id: null, bound_cn: null };
  return { kind: "user", ...whose, ...where, session_id, ...none, scope: row.granted_scope ?? "full", expires_at };
}
