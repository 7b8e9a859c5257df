// A silo: the top of the hierarchy. Making one also makes the tenant named default, in the same commit. There is no way
// to remove a silo (document 4, 1.15, Delete guards).
import { conflict } from "../../src/contract/fault.ts";
import type { Silo } from "../../src/contract/tenancy.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { nameFault, renamed, type Renaming } from "../../src/lib/text/resource-name.ts";
import { audit, go, refuse, withActor } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";

export type SiloMessage =
  | {
    readonly type: "create";
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly default_tenant_id: string;
  }
  | ({ readonly type: "update" } & Renaming);

export type SiloState = {
  readonly state: "live";
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly default_tenant_id: string;
  readonly created_at: Date;
};

/** Document 4, 2.1: the tenant that a new silo starts with. */
const DEFAULT_TENANT = { name: "default", description: "The default tenant of the silo" };

export const siloTable: Table<SiloState, SiloMessage> = {
  create: { absent: create, live: "silo exists already" },
  update: { absent: "missing", live: update },
};

function create(_s: null, m: Of<SiloMessage, "create">, now: Date): Out<SiloState> {
  const { id, name, description, default_tenant_id } = m;
  const broken = nameFault(name);
  if (broken !== null) return refuse(broken);
  return go(
    { id, state: "live", name, description, default_tenant_id, created_at: now },
    withActor({ kind: "tenant", id: default_tenant_id }, {
      type: "create",
      id: default_tenant_id,
      silo_id: id,
      ...DEFAULT_TENANT,
    }),
    audit("create_silo", `Silo::"${id}"`, { name, default_tenant_id }),
  );
}

function update(s: At<SiloState, "live">, m: Of<SiloMessage, "update">): Out<SiloState> {
  const next = renamed(s, m);
  if ("message" in next) return refuse(next);
  return go(
    next,
    audit("silo_update", `Silo::"${s.id}"`, { name: next.name }),
  );
}

export function siloView({ id, name, description, default_tenant_id, created_at }: SiloState): Silo {
  return { id, name, description, default_tenant_id, created_at: toRfc3339(created_at) };
}

export const silo: Behavior<SiloState, SiloMessage> = {
  kind: "silo",
  table: "silo",
  key: "id",
  step: (s, m, now) => runTable(siloTable, s, m, now),
  deadline: () => null,
  view: siloView,
  constraints: { silo_name: conflict("a silo named <name> already exists") },
};
