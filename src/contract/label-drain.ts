// Defines the schemas of a drain by label. It drains the nodes with a label, at most `max_unavailable` at the same time
// (docs/nodes.md, "Drain by label").
import { z } from "zod";
import { withDefault } from "./common.ts";
import { RemainingInstance } from "./drain.ts";
import { CN_STATES } from "./enums.ts";
import { LabelFilterText } from "./labels.ts";
import { LABEL_DRAIN_NODES_MAX } from "./limits.ts";
import { DrainPreview } from "./placement.ts";

/** The body that drains the nodes with a label. */
export const LabelDrainBody = z.strictObject({
  label: LabelFilterText.describe(
    "Selects the nodes by labels: KEY=VALUE, or KEY for any value. Separate several labels with commas",
  ),
  max_unavailable: withDefault(z.number().int().min(1).max(LABEL_DRAIN_NODES_MAX), 1).describe(
    "The maximum number of drains that run at the same time. Default: 1",
  ),
  dry_run: withDefault(z.boolean(), false).describe("true: change nothing and return the plan"),
});

/** A node of a drain by label. */
const Node = z.object({ server_uuid: z.string(), hostname: z.string() });

/** The planned drain of one node. */
export const PlannedNode = Node.extend({
  preview: DrainPreview,
  operation_id: z.string().nullable().describe(
    "The id of the node's operation cn-drain. The operation is created when the drain begins. Null for a dry run",
  ),
});
export type PlannedNode = z.infer<typeof PlannedNode>;

/** The plan of a drain by label, and its operation. */
export const LabelDrainStarted = z.object({
  nodes: z.array(PlannedNode).describe(
    "The approved nodes with the label, in the order in which they are drained: by hostname",
  ),
  skipped: z.array(Node.extend({ state: z.enum(CN_STATES) })).describe(
    "The nodes with the label that are not approved. They are not drained",
  ),
  operation_id: z.string().nullable().describe("The operation cn-drain-label; null for a dry run"),
});
export type LabelDrainStarted = z.infer<typeof LabelDrainStarted>;

/** A node that the operation could not drain completely. */
export const NotEmptied = Node.extend({
  operation_id: z.string(),
  reason: z.string(),
  remedy: z.string(),
  remaining: z.array(RemainingInstance),
});
export type NotEmptied = z.infer<typeof NotEmptied>;

/** The output of the last step of a drain by label. */
export const LabelDrainResult = z.object({
  drained: z.array(Node.extend({ operation_id: z.string(), moved: z.number().int() })),
  not_emptied: z.array(NotEmptied).describe(
    "The nodes that were not emptied: the drain was refused, failed or left instances. After the first of these " +
      "nodes, no further drain began",
  ),
  not_begun: z.array(Node).describe("The nodes that were not drained, because an earlier node was not emptied"),
});
export type LabelDrainResult = z.infer<typeof LabelDrainResult>;
