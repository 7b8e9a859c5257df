import type { PlacementGroup } from "../../../src/contract/placement-group.ts";
import { AGE_COLUMN, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import type { Kind } from "../record/kind.ts";

export const PLACEMENT_GROUP: Kind<PlacementGroup> = {
  noun: "placement-group",
  singular: "placement group",
  plural: "placement groups",
  title: "Placement group",
  path: "/v1/placement-groups",
  has_labels: true,
  sample: "web",
  parent: "project",
  columns: [
    ["NAME", (group) => group.name],
    ["ID", (group) => group.id, ID_COLUMN],
    ["POLICY", (group) => group.policy],
    ["LEVEL", (group) => group.level],
    ["STRICTNESS", (group) => group.strictness],
    ["AGE", (group) => group.created_at, AGE_COLUMN],
    ["DESCRIPTION", (group) => group.description, WIDE_COLUMN],
    ["CREATED_AT", (group) => group.created_at, WIDE_COLUMN],
  ],
  lines: (group) => [
    ["id", group.id],
    ["name", group.name],
    ["description", group.description],
    ["policy", group.policy],
    ["level", group.level],
    ["strictness", group.strictness],
    ["project", group.project],
    ["created_at", group.created_at],
  ],
};
