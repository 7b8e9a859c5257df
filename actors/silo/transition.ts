// A silo: the top of the hierarchy. A create also creates the tenant named default, in the same commit. Silos cannot be
// deleted (docs/tenancy.md).
import { conflict } from "../../src/contract/fault.ts";
import type { Silo } from "../../src/contract/tenancy.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import type { Named } from "../../src/lib/text/resource-name.ts";
import { withActor } from "../engine/effects.ts";
import { type Create, record, type RecordState, type Update } from "../record/record.ts";

type Columns = Named & { readonly id: string; readonly default_tenant_id: string };

export type SiloMessage = Create<Columns> | Update;

export type SiloState = RecordState<Columns>;

const DEFAULT_TENANT = { name: "default", description: "The default tenant of the silo" };

export const silo = record<SiloState, SiloMessage, Silo>({
  kind: "silo",
  table: "silo",
  noun: "silo",
  resource: "Silo",
  create: {
    action: "create_silo",
    note: ["name", "default_tenant_id"],
    parts: ({ id: silo_id, default_tenant_id: id }) => [
      withActor({ kind: "tenant", id }, { type: "create", id, silo_id, ...DEFAULT_TENANT }),
    ],
  },
  update: { action: "silo_update" },
  view: ({ id, name, description, default_tenant_id, created_at }) => (
    { id, name, description, default_tenant_id, created_at: toRfc3339(created_at) }
  ),
  constraints: { silo_name: conflict("a silo named <name> already exists") },
});
