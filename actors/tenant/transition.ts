// A tenant of a silo. It goes only when it holds nothing: projects, users and keys would be orphans (document 4, 1.15).
import { conflict } from "../../src/contract/fault.ts";
import type { Tenant } from "../../src/contract/tenancy.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { nameFault, renamed, type Renaming } from "../../src/lib/text/resource-name.ts";
import { audit, go, guard, insert, lock, refuse } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";

export type TenantMessage =
  | {
    readonly type: "create";
    readonly id: string;
    readonly silo_id: string;
    readonly name: string;
    readonly description: string;
  }
  | ({ readonly type: "update" } & Renaming)
  | { readonly type: "delete" };

export type TenantState = {
  readonly state: "live";
  readonly id: string;
  readonly silo_id: string;
  readonly name: string;
  readonly description: string;
  readonly created_at: Date;
};

type Live = At<TenantState, "live">;

export const tenantTable: Table<TenantState, TenantMessage> = {
  create: { absent: create, live: "tenant exists already" },
  update: { absent: "missing", live: update },
  delete: { absent: "missing", live: remove },
};

function create(_s: null, m: Of<TenantMessage, "create">, now: Date): Out<TenantState> {
  const { id, silo_id, name, description } = m;
  const broken = nameFault(name);
  if (broken !== null) return refuse(broken);
  return go(
    { id, state: "live", silo_id, name, description, created_at: now },
    insert("tenant_usage", { tenant_id: id }),
    audit("tenant_create", resource(id), { name, silo_id }),
  );
}

function update(s: Live, m: Of<TenantMessage, "update">): Out<TenantState> {
  const next = renamed(s, m);
  if ("message" in next) return refuse(next);
  return go(
    next,
    audit("tenant_update", resource(s.id), { name: next.name }),
  );
}

function remove(s: Live): Out<TenantState> {
  const tenant_id = s.id;
  return go<TenantState>(
    null,
    lock(lockKey("tenant", tenant_id)),
    guard("tenant_is_no_default", { tenant_id }, "this is the default tenant of its silo and cannot be deleted"),
    guard("tenant_is_empty", { tenant_id }, `tenant ${tenant_id} still holds <WHAT>; delete that first`),
    audit("tenant_delete", resource(tenant_id), { name: s.name, silo_id: s.silo_id }),
  );
}

function resource(id: string): string {
  return `Tenant::"${id}"`;
}

export function tenantView({ id, silo_id, name, description, created_at }: TenantState): Tenant {
  return { id, silo_id, name, description, created_at: toRfc3339(created_at) };
}

export const tenant: Behavior<TenantState, TenantMessage> = {
  kind: "tenant",
  table: "tenant",
  key: "id",
  step: (s, m, now) => runTable(tenantTable, s, m, now),
  deadline: () => null,
  view: tenantView,
  constraints: {
    tenant_name: conflict("a tenant named <name> already exists in this silo"),
    tenant_silo_id_fkey: conflict("the silo is gone"),
  },
};
