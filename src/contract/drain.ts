// Defines the schemas of drains of nodes, and of evacuations of dead nodes (docs/nodes.md, "Drain" and "Evacuate a dead
// node").
import { z } from "zod";
import { withDefault } from "./common.ts";
import { DrainPreview } from "./placement.ts";

/** The body that starts a drain. */
export const DrainBody = z.strictObject({
  dry_run: withDefault(z.boolean(), false).describe("true: change nothing and return the preview"),
});

/** The preview of the drain, and the operation that moves the instances in `placeable`. */
export const DrainStarted = DrainPreview.extend({
  operation_id: z.string().nullable().describe("The operation cn-drain; null for a dry run"),
});
export type DrainStarted = z.infer<typeof DrainStarted>;

/** The body that evacuates a dead node. */
export const EvacuateBody = z.strictObject({
  fenced: withDefault(z.boolean(), false).describe(
    "true: the caller has powered the node off, so that it runs no instance. Required unless `dry_run` is true",
  ),
  lose_local_disks: withDefault(z.boolean(), false).describe(
    "true: create the instances elsewhere from their images. The data of their disks on the node is lost",
  ),
  dry_run: withDefault(z.boolean(), false).describe("true: change nothing and return the plan"),
});

/** The plan of an evacuation, and its operation. */
export const EvacuateStarted = DrainPreview.extend({
  placeable: DrainPreview.shape.placeable.describe(
    "Instances that are created again on another node from their images. The target is a proposal",
  ),
  not_placeable: DrainPreview.shape.not_placeable.describe("Instances that remain on the node"),
  operation_id: z.string().nullable().describe("The operation cn-evacuate; null for a dry run"),
});
export type EvacuateStarted = z.infer<typeof EvacuateStarted>;

/** An instance that is still on the node when the node's drain ends. */
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
