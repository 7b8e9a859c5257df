// Resolves an API key to its owner, or to the tenant that the key is bound to. The row of the key is looked up by the
// hash of the secret. Therefore a wrong secret and an unknown key id fail in the same lookup, and the response time
// does not reveal whether a key exists. The duration of the lookup may depend on the hash, but a caller cannot choose
// the hash of a secret.
import { createHash } from "node:crypto";
import type { KeyScope } from "../contract/enums.ts";
import { createLookup } from "../db/lookup.ts";
import type { Db } from "../db/pool.ts";
import type { parseApiKey } from "../lib/ids/api-key.ts";
import type { Credential } from "./credential.ts";
import type { KnownPrincipal, Person } from "./principal.ts";

type KeyRow = Person & {
  readonly id: string;
  readonly lookup: string;
  readonly secret_sha256: string;
  readonly key_tenant_id: string | null;
  readonly scope: KeyScope;
  readonly bound_to_cn: string | null;
  readonly expires_at: Date | null;
  readonly pending: boolean;
};

/**
 * The live keys with their principals. A key that is bound to a tenant has the permissions of that tenant, and no
 * permissions of its owner.
 */
const LIVE = `
  select k.id, k.lookup, k.secret_sha256, k.user_id, u.username, u.is_root and k.tenant_id is null as is_root,
         case when k.tenant_id is null then u.capabilities else '{}' end as capabilities,
         coalesce(k.tenant_id, u.tenant_id) as tenant_id,
         case when k.tenant_id is null and 'silo-admin' = any(u.capabilities) then t.silo_id end as silo_id,
         t.silo_id as home_silo_id,
         k.tenant_id as key_tenant_id, k.scope, k.bound_to_cn, k.expires_at,
         coalesce(c.pending_credential is not null and c.bound_api_key_id = k.id, false) as pending
    from api_key k join user_account u on u.id = k.user_id left join tenant t on t.id = coalesce(k.tenant_id, u.tenant_id)
    left join cn c on c.server_uuid = k.bound_to_cn
   where (k.expires_at is null or k.expires_at > (select berth_now()))`;
const LOOKUP = `${LIVE} and k.secret_sha256 = any($1)`;
const LOOKUP_BY_ID = `${LIVE} and k.id = any($1)`;

export type ApiKeyText = NonNullable<ReturnType<typeof parseApiKey>>;

export function createApiKeyCredential(db: Db) {
  const find = createLookup<KeyRow>(async (hashes) => {
    const { rows } = await db.byKey.query<KeyRow>(LOOKUP, [hashes]);
    return new Map(rows.map((row) => [row.secret_sha256, row]));
  });

  return async function apiKeyCredential(key: ApiKeyText): Promise<Credential | null> {
    const row = await find(createHash("sha256").update(key.secret).digest("hex"));
    return row?.lookup === key.lookup ? credentialOf(row) : null;
  };
}

/** Returns the function that finds the principal of a key by its id; null for a key that is expired or deleted. */
export function createApiKeyReference(db: Db) {
  const find = createLookup<KeyRow>(async (ids) => {
    const { rows } = await db.byKey.query<KeyRow>(LOOKUP_BY_ID, [ids]);
    return new Map(rows.map((row) => [row.id, row]));
  });

  return async function apiKeyReference(id: string): Promise<KnownPrincipal | null> {
    const row = await find(id);
    return row === null ? null : credentialOf(row).principal;
  };
}

function credentialOf(row: KeyRow): Credential & { readonly principal: KnownPrincipal } {
  const { id: key_id, lookup: _, secret_sha256: __, bound_to_cn: bound_cn, pending, ...rest } = row;
  const key = { key_id, key_expires_at: row.expires_at };
  return { principal: { kind: "user", ...key, session_id: null, bound_cn, ...rest }, pending };
}
