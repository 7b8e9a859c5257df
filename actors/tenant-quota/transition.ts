// The limits of a tenant: they cap the sum over its projects, so a new project lifts nothing. They bind what is created
// from now on, as a project's do (quota/transition.ts).
import { conflict } from "../../src/contract/fault.ts";
import type { QuotaBody, TenantQuota, Usage } from "../../src/contract/tenancy.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { audit, go } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";

export type TenantQuotaMessage =
  | ({ readonly type: "set"; readonly tenant_id: string } & QuotaBody)
  | { readonly type: "unset" };

export type TenantQuotaState = QuotaBody & {
  readonly state: "set";
  readonly tenant_id: string;
  readonly updated_at: Date;
};

export const tenantQuotaTable: Table<TenantQuotaState, TenantQuotaMessage> = {
  set: { absent: set, set },
  unset: { absent: "missing", set: unset },
};

function set(
  _s: TenantQuotaState | null,
  m: Of<TenantQuotaMessage, "set">,
  now: Date,
): Out<TenantQuotaState> {
  const { type: _type, ...limits } = m;
  return go({ ...limits, state: "set", updated_at: now }, audit("quota_set", resource(m.tenant_id), limits));
}

function unset({ tenant_id }: At<TenantQuotaState, "set">): Out<TenantQuotaState> {
  return go<TenantQuotaState>(null, audit("quota_delete", resource(tenant_id), { tenant_id }));
}

function resource(tenant_id: string): string {
  return `Tenant::"${tenant_id}"`;
}

/** The record as it is shown, beside what the tenant's projects use together. */
export function tenantQuotaView(s: TenantQuotaState, used: Usage): TenantQuota {
  const { state: _state, updated_at, ...limits } = s;
  return { ...limits, used, updated_at: toRfc3339(updated_at) };
}

export const tenantQuota: Behavior<TenantQuotaState, TenantQuotaMessage> = {
  kind: "tenant-quota",
  table: "tenant_quota",
  key: "tenant_id",
  step: (s, m, now) => runTable(tenantQuotaTable, s, m, now),
  deadline: () => null,
  view: ({ state: _state, updated_at, ...limits }) => ({ ...limits, updated_at: toRfc3339(updated_at) }),
  constraints: { tenant_quota_tenant_id_fkey: conflict("the tenant is gone") },
};
