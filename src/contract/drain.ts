// Drains of nodes (docs/nodes.md, "Drain").
import { z } from "zod";
import { withDefault } from "./common.ts";
import { DrainPreview } from "./placement.ts";

/** The body that starts a drain. */
export const DrainBody = z.strictObject({
  dry_run: withDefault(z.boolean(), false).describe("true: change nothing and answer the preview"),
});

/** The preview of the drain, and the operation that moves the instances in `placeable`. */
export const DrainStarted = DrainPreview.extend({
  operation_id: z.string().nullable().describe("The operation cn-drain; null for a dry run"),
});
export type DrainStarted = z.infer<typeof DrainStarted>;

/** An instance that is on the node when its drain ends. */
export const RemainingInstance = z.object({
  instance_id: z.string(),
  instance_name: z.string(),
  reason: z.string(),
  remedy: z.string(),
});
export type RemainingInstance = z.infer<typeof RemainingInstance>;

/** The output of the drain's last step. `moved` counts the instances that left the node. */
export const DrainResult = z.object({ moved: z.number().int(), remaining: z.array(RemainingInstance) });
export type DrainResult = z.infer<typeof DrainResult>;
