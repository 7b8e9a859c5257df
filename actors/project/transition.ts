// A project of a tenant. It goes only when it holds nothing (document 4, 1.15); its quota and the count of its usage go
// with it.
import { conflict } from "../../src/contract/fault.ts";
import type { Project } from "../../src/contract/tenancy.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { nameFault, renamed, type Renaming } from "../../src/lib/text/resource-name.ts";
import { audit, go, guard, insert, lock, refuse } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";

export type ProjectMessage =
  | {
    readonly type: "create";
    readonly id: string;
    readonly tenant_id: string;
    readonly name: string;
    readonly description: string;
  }
  | ({ readonly type: "update" } & Renaming)
  | { readonly type: "delete" };

export type ProjectState = {
  readonly state: "live";
  readonly id: string;
  readonly tenant_id: string;
  readonly name: string;
  readonly description: string;
  readonly created_at: Date;
};

type Live = At<ProjectState, "live">;

export const projectTable: Table<ProjectState, ProjectMessage> = {
  create: { absent: create, live: "project exists already" },
  update: { absent: "missing", live: update },
  delete: { absent: "missing", live: remove },
};

function create(_s: null, m: Of<ProjectMessage, "create">, now: Date): Out<ProjectState> {
  const { id, tenant_id, name, description } = m;
  const broken = nameFault(name);
  if (broken !== null) return refuse(broken);
  return go(
    { id, state: "live", tenant_id, name, description, created_at: now },
    lock(lockKey("tenant", tenant_id), true),
    insert("project_usage", { project_id: id }),
    audit("project_create", resource(id), { name, tenant_id }),
  );
}

function update(s: Live, m: Of<ProjectMessage, "update">): Out<ProjectState> {
  const next = renamed(s, m);
  if ("message" in next) return refuse(next);
  return go(
    next,
    audit("project_update", resource(s.id), { name: next.name }),
  );
}

function remove(s: Live): Out<ProjectState> {
  const project_id = s.id;
  return go<ProjectState>(
    null,
    lock(lockKey("project", project_id)),
    guard("project_is_empty", { project_id }, `project ${project_id} still holds <WHAT>; delete that first`),
    audit("project_delete", resource(project_id), { name: s.name, tenant_id: s.tenant_id }),
  );
}

function resource(id: string): string {
  return `Project::"${id}"`;
}

export function projectView({ id, tenant_id, name, description, created_at }: ProjectState): Project {
  return { id, tenant_id, name, description, created_at: toRfc3339(created_at) };
}

export const project: Behavior<ProjectState, ProjectMessage> = {
  kind: "project",
  table: "project",
  key: "id",
  step: (s, m, now) => runTable(projectTable, s, m, now),
  deadline: () => null,
  view: projectView,
  constraints: {
    project_name: conflict("a project named <name> already exists in this tenant"),
    project_tenant_id_fkey: conflict("the tenant is gone"),
  },
};
