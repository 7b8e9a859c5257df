// Finds the principal of a credential that was checked earlier, without the credential itself. A console needs this,
// because a console lasts for hours and its caller's credential may end earlier. A key and a login session are looked
// up by their ids. A token of another issuer cannot be looked up. It counts as valid until it expires or its user is
// deleted.
import { createLookup } from "../db/lookup.ts";
import { createApiKeyReference } from "./api-key-credential.ts";
import type { KnownPrincipal, Person } from "./principal.ts";
import { createSessionReference, type SessionSource } from "./session-credential.ts";

/** A credential by reference. It contains no secret. */
export type CredentialReference = {
  readonly user_id: string;
  /** The API key that the caller sent, or that opened its session of the web console; null for other credentials. */
  readonly key_id: string | null;
  /** The login session; null for API keys and tokens of an external issuer. */
  readonly login_id: string | null;
  readonly credential_expires_at: Date | null;
  /** Whether the caller was a root operator. This is used only for a token of another issuer. */
  readonly is_root: boolean;
};

export type FindReferenced = (reference: CredentialReference) => Promise<KnownPrincipal | null>;

type UserRow = Omit<Person, "is_root"> & { readonly now: Date };

const USERS = `
  select u.id as user_id, u.username, u.capabilities, u.tenant_id,
         case when 'silo-admin' = any(u.capabilities) then t.silo_id end as silo_id, t.silo_id as home_silo_id,
         berth_now() as now
    from user_account u left join tenant t on t.id = u.tenant_id
   where u.id = any($1)`;

/** Returns the function that finds the principal, or null if the credential has ended. */
export function createCredentialReferences(source: SessionSource): FindReferenced {
  const { db } = source;
  const ofKey = createApiKeyReference(db);
  const ofLogin = createSessionReference(source);
  const findUser = createLookup<UserRow>(async (ids) => {
    const { rows } = await db.query<UserRow>(USERS, [ids]);
    return new Map(rows.map((row) => [row.user_id, row]));
  });

  return async function referenced(reference) {
    const { user_id, key_id, login_id, credential_expires_at, is_root } = reference;
    // If a key opened the session of the web console, the session ends with the key, or earlier by expiry or logout.
    const session = login_id === null ? null : await ofLogin(login_id);
    if (login_id !== null && session === null) return null;
    if (key_id !== null) return await ofKey(key_id);
    if (session !== null) return session;
    const row = await findUser(user_id);
    if (row === null || credential_expires_at === null || row.now >= credential_expires_at) return null;
    const { now: _now, ...person } = row;
    const none = { key_id: null, key_expires_at: null, key_tenant_id: null, session_id: null, bound_cn: null };
    return { kind: "user", ...person, ...none, is_root, scope: "full", expires_at: credential_expires_at };
  };
}

/** Returns the reference of a principal. */
export function referenceOf(principal: KnownPrincipal): CredentialReference {
  const { user_id, key_id, session_id: login_id, expires_at, is_root } = principal;
  return { user_id, key_id, login_id, credential_expires_at: expires_at, is_root };
}
