// The limits of a tenant. They limit the sum over the tenant's projects, so a new project does not raise them. Commits
// check them at the same moments as the limits of a project (quota/transition.ts).
import { conflict } from "../../src/contract/fault.ts";
import type { QuotaBody } from "../../src/contract/tenancy.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { type SetValue, type UnsetValue, value, type ValueState } from "../record/value.ts";

type Columns = QuotaBody & { readonly tenant_id: string };

export type TenantQuotaMessage = SetValue<Columns> | UnsetValue;

export type TenantQuotaState = ValueState<Columns & { readonly updated_at: Date }>;

export const tenantQuota = value<TenantQuotaState, TenantQuotaMessage>({
  kind: "tenant-quota",
  table: "tenant_quota",
  key: "tenant_id",
  resource: ({ tenant_id }) => `Tenant::"${tenant_id}"`,
  set: {
    action: "quota_set",
    row: ({ type: _type, ...columns }, now) => ({ ...columns, updated_at: now }),
    note: ({ state: _state, updated_at: _at, ...columns }) => columns,
  },
  unset: { action: "quota_delete", absent: "missing", note: ({ tenant_id }) => ({ tenant_id }) },
  view: ({ state: _state, updated_at, ...columns }) => ({ ...columns, updated_at: toRfc3339(updated_at) }),
  constraints: { tenant_quota_tenant_id_fkey: conflict("the tenant was deleted") },
});
