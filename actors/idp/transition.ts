// The issuer that vouches for the users of a tenant: at most one each, and no two tenants share one. Its tokens are
// accepted as long as this row is there, so deleting it ends them at once.
import { conflict } from "../../src/contract/fault.ts";
import type { Idp } from "../../src/contract/identity.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { audit, go, lock } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";

export type IdpMessage =
  | {
    readonly type: "set";
    readonly tenant_id: string;
    readonly issuer_url: string;
    readonly client_id: string;
    /** Sealed. */
    readonly client_secret: string;
    readonly audience: string;
  }
  | { readonly type: "unset" };

export type IdpState = {
  readonly state: "set";
  readonly tenant_id: string;
  readonly issuer_url: string;
  readonly client_id: string;
  readonly client_secret: string;
  readonly audience: string;
  readonly created_at: Date;
};

export const idpTable: Table<IdpState, IdpMessage> = {
  set: { absent: set, set },
  unset: { absent: "missing", set: unset },
};

function set(_s: IdpState | null, m: Of<IdpMessage, "set">, now: Date): Out<IdpState> {
  const { type: _type, ...given } = m;
  const { client_secret: _sealed, tenant_id, ...note } = given;
  return go(
    { ...given, state: "set", created_at: now },
    lock(lockKey("tenant", tenant_id), true),
    audit("tenant_idp_set", resource(tenant_id), note),
  );
}

function unset(s: At<IdpState, "set">): Out<IdpState> {
  return go<IdpState>(null, audit("tenant_idp_delete", resource(s.tenant_id), { issuer_url: s.issuer_url }));
}

function resource(tenant_id: string): string {
  return `Tenant::"${tenant_id}"`;
}

/** The secret is in no view. */
export function idpView(s: Omit<IdpState, "state" | "client_secret">): Idp {
  const { tenant_id, issuer_url, client_id, audience } = s;
  return { tenant_id, issuer_url, client_id, audience, created_at: toRfc3339(s.created_at) };
}

export const idp: Behavior<IdpState, IdpMessage> = {
  kind: "idp",
  table: "tenant_idp",
  key: "tenant_id",
  step: (s, m, now) => runTable(idpTable, s, m, now),
  deadline: () => null,
  view: idpView,
  constraints: {
    tenant_idp_issuer: conflict("another tenant has the issuer <issuer_url> already"),
    tenant_idp_tenant_id_fkey: conflict("the tenant is gone"),
  },
};
