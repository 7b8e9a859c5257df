// From the Authorization header to a principal. One form is accepted: `Bearer` and an API key. Keys that arrive together
// are looked up together. Nothing is cached, so that a deleted key is refused by every process at once.
import { Buffer } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";
import type { Capability, KeyScope } from "../contract/enums.ts";
import type { Db } from "../db/pool.ts";
import { parseApiKey } from "../pure/api-key.ts";
import type { Principal } from "./principal.ts";

/** The principal, or null for a credential that is none. `pending` tells that its node has not used the key before. */
export type Credential = { readonly principal: Principal; readonly pending: boolean };

type KeyRow = {
  readonly id: string;
  readonly lookup: string;
  readonly secret_sha256: string;
  readonly user_id: string;
  readonly username: string;
  readonly is_root: boolean;
  readonly capabilities: readonly Capability[];
  readonly tenant_id: string | null;
  readonly silo_id: string | null;
  readonly key_tenant_id: string | null;
  readonly scope: KeyScope;
  readonly bound_to_cn: string | null;
  readonly expires_at: Date | null;
  readonly pending: boolean;
};

/** A key that is bound to a tenant has the rights of that tenant and none of its owner's. */
const LOOKUP = `
  select k.id, k.lookup, k.secret_sha256, k.user_id, u.username, u.is_root and k.tenant_id is null as is_root,
         case when k.tenant_id is null then u.capabilities else '{}' end as capabilities,
         coalesce(k.tenant_id, u.tenant_id) as tenant_id, case when k.tenant_id is null then t.silo_id end as silo_id,
         k.tenant_id as key_tenant_id, k.scope, k.bound_to_cn, k.expires_at,
         coalesce(c.pending_credential is not null and c.bound_api_key_id = k.id, false) as pending
    from api_key k join user_account u on u.id = k.user_id left join tenant t on t.id = u.tenant_id
    left join cn c on c.server_uuid = k.bound_to_cn
   where k.lookup = any($1) and (k.expires_at is null or k.expires_at > berth_now())`;

/** Compared against when no key has the lookup id, so that the answer takes as long. */
const NOBODY = "0".repeat(64);

/** Reads credentials of one process. */
export function createCredentials(db: Db) {
  let waiting: Map<
    string,
    { promise: Promise<KeyRow | null>; settle: (row: KeyRow | null) => void; fail: (e: unknown) => void }
  > = new Map();

  function find(lookup: string): Promise<KeyRow | null> {
    const present = waiting.get(lookup);
    if (present !== undefined) return present.promise;
    const { promise, resolve, reject } = Promise.withResolvers<KeyRow | null>();
    if (waiting.size === 0) setImmediate(() => void lookUpAll());
    waiting.set(lookup, { promise, settle: resolve, fail: reject });
    return promise;
  }

  async function lookUpAll(): Promise<void> {
    const batch = waiting;
    waiting = new Map();
    try {
      const { rows } = await db.query<KeyRow>(LOOKUP, [[...batch.keys()]]);
      const found = new Map(rows.map((row) => [row.lookup, row]));
      for (const [lookup, { settle }] of batch) settle(found.get(lookup) ?? null);
    } catch (error) {
      for (const { fail } of batch.values()) fail(error);
    }
  }

  /** Anonymous without a header; null for a header that proves nothing. A database that fails throws. */
  return async function credential(header: string | undefined): Promise<Credential | null> {
    if (header === undefined) return { principal: { kind: "anonymous" }, pending: false };
    const key = header.startsWith("Bearer ") ? parseApiKey(header.slice("Bearer ".length)) : null;
    if (key === null) return null;
    const row = await find(key.lookup);
    const hash = Buffer.from(row?.secret_sha256 ?? NOBODY, "hex");
    const same = timingSafeEqual(createHash("sha256").update(key.secret).digest(), hash);
    if (row === null || !same) return null;
    const { id: key_id, lookup: _, secret_sha256: __, bound_to_cn: bound_cn, pending, ...rest } = row;
    return { principal: { kind: "user", key_id, session_id: null, bound_cn, ...rest }, pending };
  };
}

export type Credentials = ReturnType<typeof createCredentials>;
