// A tenant of a silo. A delete is refused while the tenant holds anything. The default tenant is deleted only with its
// silo (docs/tenancy.md).
import { conflict } from "../../src/contract/fault.ts";
import type { Tenant } from "../../src/contract/tenancy.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import type { Named } from "../../src/lib/text/resource-name.ts";
import { audit, go, guard, insert, lock } from "../engine/effects.ts";
import type { Out } from "../engine/types.ts";
import { type Create, type Delete, record, type RecordState, type Update } from "../record/record.ts";

type Columns = Named & { readonly id: string; readonly silo_id: string };

export type TenantMessage =
  | Create<Columns>
  | Update
  | Delete
  /** The silo of a default tenant is deleted. The delete of the silo checks that the tenant is empty. */
  | { readonly type: "silo_deleted" };

export type TenantState = RecordState<Columns>;

export const tenant = record<TenantState, TenantMessage, Tenant>({
  kind: "tenant",
  table: "tenant",
  noun: "tenant",
  resource: "Tenant",
  parent: ({ silo_id }) => lockKey("silo", silo_id),
  create: {
    action: "tenant_create",
    note: ["name", "silo_id"],
    parts: ({ id }) => [insert("tenant_usage", { tenant_id: id })],
  },
  update: { action: "tenant_update" },
  delete: {
    action: "tenant_delete",
    note: ["name", "silo_id"],
    parts: ({ id: tenant_id }) => [
      lock(lockKey("tenant", tenant_id)),
      guard("tenant_is_no_default", { tenant_id }, "this is the default tenant of its silo and cannot be deleted"),
      guard("tenant_is_empty", { tenant_id }, `tenant ${tenant_id} still holds <WHAT>, which must be deleted first`),
    ],
  },
  others: { silo_deleted: { absent: "ignore", live: goWithSilo } },
  view: ({ id, silo_id, name, description, created_at }) => (
    { id, silo_id, name, description, created_at: toRfc3339(created_at) }
  ),
  constraints: {
    tenant_name: conflict("a tenant named <name> already exists in this silo"),
    tenant_silo_id_fkey: conflict("the silo was deleted"),
  },
});

function goWithSilo({ id, name, silo_id }: TenantState): Out<TenantState> {
  return go<TenantState>(null, audit("tenant_delete", `Tenant::"${id}"`, { name, silo_id }));
}
