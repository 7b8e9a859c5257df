// A placement group: instances of a project that placement keeps apart or together. An instance joins its group when it
// is created, and leaves the group when its record is removed (docs/instances.md, "Placement groups").
import { conflict, NOT_FOUND } from "../../src/contract/fault.ts";
import type { PlacementGroupLevel, PlacementGroupPolicy, PlacementGroupStrictness } from "../../src/contract/enums.ts";
import type { PlacementGroup } from "../../src/contract/placement-group.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import type { Named } from "../../src/lib/text/resource-name.ts";
import { guard, lock } from "../engine/effects.ts";
import { type Create, type Delete, record, type RecordState, type Update } from "../record/record.ts";

type Columns = Named & {
  readonly id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly policy: PlacementGroupPolicy;
  readonly level: PlacementGroupLevel;
  readonly strictness: PlacementGroupStrictness;
};

export type PlacementGroupMessage = Create<Columns> | Update | Delete;
export type PlacementGroupState = RecordState<Columns>;

const NOTED = ["name", "tenant_id", "project_id", "policy", "level", "strictness"] as const;

export const placementGroup = record<PlacementGroupState, PlacementGroupMessage, PlacementGroup>({
  kind: "placement-group",
  table: "placement_group",
  noun: "placement group",
  resource: "PlacementGroup",
  parent: ({ project_id }) => lockKey("project", project_id),
  create: { action: "placement_group_create", note: NOTED },
  update: { action: "placement_group_update" },
  delete: {
    action: "placement_group_delete",
    note: NOTED,
    parts: ({ id, name }) => [
      lock(lockKey("placement-group", id)),
      guard(
        "placement_group_is_empty",
        { id },
        `placement group ${name} has <WHAT> instances; delete them first`,
      ),
    ],
  },
  has_labels: true,
  view: (row) => ({
    id: row.id,
    tenant_id: row.tenant_id,
    project_id: row.project_id,
    project: row.project_id,
    name: row.name,
    description: row.description,
    labels: row.labels ?? {},
    policy: row.policy,
    level: row.level,
    strictness: row.strictness,
    created_at: toRfc3339(row.created_at),
  }),
  constraints: {
    placement_group_name: conflict("a placement group named <name> already exists in this project"),
    placement_group_project_fkey: NOT_FOUND,
  },
});
