// A silo: the top of the hierarchy. A create also creates the tenant named default, in the same commit, and a delete
// also deletes that tenant. A delete is refused while the silo holds anything else, and while an external subnet, a
// network pool or the pin of a node names the silo (docs/tenancy.md).
import { conflict } from "../../src/contract/fault.ts";
import type { Silo } from "../../src/contract/tenancy.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import type { Named } from "../../src/lib/text/resource-name.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { guard, lock, withActor } from "../engine/effects.ts";
import { type Create, type Delete, record, type RecordState, type Update } from "../record/record.ts";

type Columns = Named & { readonly id: string; readonly default_tenant_id: string };

export type SiloMessage = Create<Columns> | Update | Delete;

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
  delete: {
    action: "silo_delete",
    note: ["name", "default_tenant_id"],
    parts: ({ id: silo_id, default_tenant_id: id }) => [
      lock(lockKey("silo", silo_id)),
      lock(lockKey("tenant", id)),
      guard("silo_is_empty", { silo_id }, `silo ${silo_id} still holds <WHAT>, which must be deleted first`),
      guard("silo_is_not_named", { silo_id }, `silo ${silo_id} is still named by <WHAT>; change that first`),
      guard("tenant_is_empty", { tenant_id: id }, `its default tenant still holds <WHAT>, which must be deleted first`),
      withActor({ kind: "tenant", id }, { type: "silo_deleted" }),
    ],
  },
  view: ({ id, name, description, default_tenant_id, created_at }) => (
    { id, name, description, default_tenant_id, created_at: toRfc3339(created_at) }
  ),
  constraints: {
    silo_name: conflict("a silo named <name> already exists"),
    // An image or an SSH key in the scope of the silo was created after the guard had run.
    image_silo_fkey: conflict("the silo still holds an image; delete that first"),
    ssh_key_silo_fkey: conflict("the silo still holds an SSH key; delete that first"),
  },
});
