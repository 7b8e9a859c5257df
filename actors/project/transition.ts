// A project of a tenant. A delete is refused while the project holds anything (docs/tenancy.md). A delete also removes
// the quota and the usage count of the project.
import { conflict } from "../../src/contract/fault.ts";
import type { Project } from "../../src/contract/tenancy.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import type { Named } from "../../src/lib/text/resource-name.ts";
import { guard, insert, lock } from "../engine/effects.ts";
import { type Create, type Delete, record, type RecordState, type Update } from "../record/record.ts";

type Columns = Named & { readonly id: string; readonly tenant_id: string };

export type ProjectMessage = Create<Columns> | Update | Delete;

export type ProjectState = RecordState<Columns>;

export const project = record<ProjectState, ProjectMessage, Project>({
  kind: "project",
  table: "project",
  noun: "project",
  resource: "Project",
  parent: ({ tenant_id }) => lockKey("tenant", tenant_id),
  create: {
    action: "project_create",
    note: ["name", "tenant_id"],
    parts: ({ id }) => [insert("project_usage", { project_id: id })],
  },
  update: { action: "project_update" },
  delete: {
    action: "project_delete",
    note: ["name", "tenant_id"],
    parts: ({ id: project_id }) => [
      lock(lockKey("project", project_id)),
      guard(
        "project_is_empty",
        { project_id },
        `project ${project_id} still holds <WHAT>, which must be deleted first`,
      ),
    ],
  },
  has_labels: true,
  view: ({ id, tenant_id, name, description, labels = {}, created_at }) => (
    { id, tenant_id, name, description, labels, created_at: toRfc3339(created_at) }
  ),
  constraints: {
    project_name: conflict("a project named <name> already exists in this tenant"),
    project_tenant_id_fkey: conflict("the tenant was deleted"),
  },
});
