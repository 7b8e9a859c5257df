// Defines the schemas of placement as operators see it: why a node can or cannot take an instance, and what a drain
// would do (docs/instances.md, "Placement").
import { z } from "zod";
import { Timestamp, Uuid, withDefault } from "./common.ts";
import { CN_ROLES, FILTER_VERDICTS, INSTANCE_BRANDS, PLACEMENT_FILTERS, PLACEMENT_SCORERS } from "./enums.ts";
import { DISK_BYTES_MAX, EXPLAIN_LIST_MAX, STAMP_CHARS_MAX } from "./limits.ts";
import { Traits } from "./setup.ts";

/**
 * The result of one filter for one node. `reason` is present if the filter rejects the node. `skip` means that the
 * filter does not apply to the request.
 */
export const FilterResult = z.object({
  filter_name: z.enum(PLACEMENT_FILTERS),
  verdict: z.enum(FILTER_VERDICTS),
  reason: z.string().optional(),
});
export type FilterResult = z.infer<typeof FilterResult>;

/** The result of one scorer for one node. `contribution` is `raw` times `weight`. */
export const ScorerResult = z.object({
  name: z.enum(PLACEMENT_SCORERS),
  raw: z.number().describe("0 to 1"),
  weight: z.number(),
  contribution: z.number(),
});
export type ScorerResult = z.infer<typeof ScorerResult>;

/** The results of all filters and scorers for one node. */
export const NodeReport = z.object({
  server_uuid: z.string(),
  hostname: z.string(),
  filter_results: z.array(FilterResult).describe("The results of all filters, in the order in which the filters run"),
  scorer_results: z.array(ScorerResult).describe("Empty for a node that a filter rejected"),
  total_score: z.number().nullable().describe("Null for a node that a filter rejected"),
  accepted: z.boolean(),
  capacity_present: z.boolean(),
  load_summary_stale: z.boolean(),
});
export type NodeReport = z.infer<typeof NodeReport>;

/** The requirements of a placement. Null and empty mean no requirement. */
export const PlacementAsked = z.object({
  cpu_units: z.number().int().describe("100 per vCPU"),
  ram_mb: z.number().int(),
  disk_bytes: z.number().int(),
  role: z.enum(CN_ROLES),
  brand: z.enum(INSTANCE_BRANDS),
  min_platform: z.string().nullable(),
  tenant_id: z.string().nullable(),
  silo_id: z.string().nullable(),
  instance_id: z.string().nullable(),
  avoid_cn: z.array(z.string()),
  traits: z.record(z.string(), z.string()),
  nic_tags: z.array(z.string()),
  placement_group_id: z.string().nullable(),
});
export type PlacementAsked = z.infer<typeof PlacementAsked>;

/** The placement decision at one instant, with its reasons. */
export const ExplainReport = z.object({
  request: PlacementAsked,
  strategy: z.literal("filter-then-score"),
  profile: z.string(),
  weights: z.record(z.string(), z.number()),
  chosen: z.string().nullable().describe("The node that is tried first, or null when every node is rejected"),
  reject_counts: z.record(z.string(), z.number().int()).describe("The number of nodes that each filter rejected"),
  generated_at: Timestamp,
  per_cn: z.array(NodeReport).describe(
    "Approved nodes. Accepted nodes come first, the best first; equal nodes are ordered by UUID",
  ),
});
export type ExplainReport = z.infer<typeof ExplainReport>;

/** The report, and the time in milliseconds that it took to compute. */
export const PlacementExplanation = ExplainReport.extend({ elapsed_ms: z.number() });
export type PlacementExplanation = z.infer<typeof PlacementExplanation>;

/**
 * The instance to place: an existing or a hypothetical instance. A hypothetical instance needs `cpu` and
 * `memory_bytes`.
 */
export const ExplainBody = z.strictObject({
  instance_id: Uuid.nullish().describe("Place this instance as it is now; the other fields override its values"),
  tenant_id: Uuid.nullish(),
  cpu: z.number().int().min(1).max(0xffff_ffff).nullish(),
  memory_bytes: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER).nullish(),
  disk_bytes: z.number().int().min(0).max(DISK_BYTES_MAX).nullish().describe(
    "The size of all disks together. Default without `instance_id`: no requirement",
  ),
  role: z.enum(CN_ROLES).nullish().describe("Default: tenant"),
  brand: z.enum(INSTANCE_BRANDS).nullish().describe("Default without `instance_id`: not-applicable"),
  min_platform: z.string().min(1).max(STAMP_CHARS_MAX).nullish(),
  avoid_cn: withDefault(z.array(Uuid).max(EXPLAIN_LIST_MAX), []),
  traits: withDefault(Traits.shape.traits, {}),
  nic_tags: withDefault(z.array(z.string()).max(EXPLAIN_LIST_MAX), []),
  placement_group_id: Uuid.nullish().describe(
    "The placement group of the instance. Default: the group of the instance `instance_id`",
  ),
});
export type ExplainBody = z.infer<typeof ExplainBody>;

const drained = {
  instance_id: z.string(),
  instance_name: z.string(),
  instance_tenant_id: z.string(),
  instance_project_id: z.string(),
  instance_cpu: z.number().int(),
  instance_ram_mb: z.number().int(),
};
/** An instance on the node to drain, and another node that can take it. */
export const PlaceableInstance = z.object({ ...drained, target_cn_uuid: z.string(), target_cn_hostname: z.string() });
export type PlaceableInstance = z.infer<typeof PlaceableInstance>;
/** An instance on the node to drain, and the reason why no other node can take it. */
export const NotPlaceableInstance = z.object({
  ...drained,
  reason: z.string(),
  remedy: z.string().describe("A step that lets the instance move, such as stopping it or uncordoning a node"),
});
export type NotPlaceableInstance = z.infer<typeof NotPlaceableInstance>;

/**
 * The preview of a drain. The instances are planned one after another. The capacity that is planned for one instance is
 * not free for the next.
 */
export const DrainPreview = z.object({
  instances_on_cn: z.number().int(),
  placeable: z.array(PlaceableInstance),
  not_placeable: z.array(NotPlaceableInstance),
  capacity_ok: z.boolean().describe("True if there is at least one instance and each has a target node"),
  quorum_ok: z.boolean().describe("True if `quorum_at_risk` is empty"),
  quorum_at_risk: z.array(z.string()).describe(
    "Instances whose names look like members of a quorum; move them one at a time",
  ),
});
export type DrainPreview = z.infer<typeof DrainPreview>;
