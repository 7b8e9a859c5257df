// Defines the schemas of placement groups: instances of a project that placement keeps apart or together
// (docs/instances.md, "Placement groups").
import { z } from "zod";
import { Timestamp, withDefault } from "./common.ts";
import { PLACEMENT_GROUP_LEVELS, PLACEMENT_GROUP_POLICIES, PLACEMENT_GROUP_STRICTNESSES } from "./enums.ts";
import { Labels, NewLabels } from "./labels.ts";
import { Description, ResourceName } from "./tenancy.ts";

const policy = z.enum(PLACEMENT_GROUP_POLICIES).describe(
  "anti_affinity keeps the instances apart, affinity keeps them together",
);
const level = z.enum(PLACEMENT_GROUP_LEVELS).describe(
  "The level at which the instances are kept apart or together: a node, or a fault domain such as a rack",
);
const strictness = z.enum(PLACEMENT_GROUP_STRICTNESSES).describe(
  "If no node satisfies the rule: required refuses the instance, preferred places it on a node that breaks the rule",
);

/** Instances of a project that placement keeps apart or together. */
export const PlacementGroup = z.object({
  id: z.string(),
  tenant_id: z.string(),
  project_id: z.string(),
  project: z.string(),
  name: z.string(),
  description: z.string(),
  labels: Labels,
  policy,
  level,
  strictness,
  created_at: Timestamp,
});
export type PlacementGroup = z.infer<typeof PlacementGroup>;

/** The body that creates a placement group. Its policy, level and strictness never change. */
export const PlacementGroupBody = z.strictObject({
  name: ResourceName,
  description: withDefault(Description, ""),
  labels: withDefault(NewLabels, {}),
  policy: withDefault(policy, "anti_affinity"),
  level: withDefault(level, "node"),
  strictness: withDefault(strictness, "required"),
});
export type PlacementGroupBody = z.infer<typeof PlacementGroupBody>;
