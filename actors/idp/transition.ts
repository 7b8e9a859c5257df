// The identity provider of a tenant's users. A tenant has at most one, and two tenants never share an issuer. The
// server accepts the tokens of the issuer as long as this row exists, so a delete revokes the tokens at once. A session
// must be newer than `created_at`. So if a removed issuer is set again, its earlier sessions stay invalid.
import { conflict } from "../../src/contract/fault.ts";
import type { Idp } from "../../src/contract/identity.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { lock } from "../engine/effects.ts";
import { type SetValue, type UnsetValue, value, type ValueState } from "../record/value.ts";

type Columns = {
  readonly tenant_id: string;
  readonly issuer_url: string;
  readonly client_id: string;
  /** Sealed. */
  readonly client_secret: string;
  readonly audience: string;
};

export type IdpMessage = SetValue<Columns> | UnsetValue;

export type IdpState = ValueState<Columns & { readonly created_at: Date }>;

export const idp = value<IdpState, IdpMessage>({
  kind: "idp",
  table: "tenant_idp",
  key: "tenant_id",
  resource: ({ tenant_id }) => `Tenant::"${tenant_id}"`,
  set: {
    action: "tenant_idp_set",
    row: ({ type: _type, ...columns }, now, before) => ({
      ...columns,
      // A new secret of the same issuer ends no sessions.
      created_at: before?.issuer_url === columns.issuer_url ? before.created_at : now,
    }),
    parts: ({ tenant_id }) => [lock(lockKey("tenant", tenant_id), true)],
    note: ({ issuer_url, client_id, audience }) => ({ issuer_url, client_id, audience }),
  },
  unset: { action: "tenant_idp_delete", absent: "missing", note: ({ issuer_url }) => ({ issuer_url }) },
  view: idpView,
  constraints: {
    tenant_idp_issuer: conflict("the issuer <issuer_url> belongs to another tenant"),
    tenant_idp_tenant_id_fkey: conflict("the tenant was deleted"),
  },
});

/** Returns the view without the client secret. */
export function idpView(row: Omit<IdpState, "state" | "client_secret">): Idp {
  const { tenant_id, issuer_url, client_id, audience } = row;
  return { tenant_id, issuer_url, client_id, audience, created_at: toRfc3339(row.created_at) };
}
