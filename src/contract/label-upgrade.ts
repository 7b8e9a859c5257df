// Defines the schemas of an upgrade by label. It upgrades the nodes with a label to a platform image, at most
// `max_unavailable` at the same time (docs/nodes.md, "Upgrade by label").
import { z } from "zod";
import { Stamp } from "./boot.ts";
import { withDefault } from "./common.ts";
import { CN_STATES, UPGRADE_REBOOTS } from "./enums.ts";
import { LabelFilterText } from "./labels.ts";
import { LABEL_DRAIN_NODES_MAX } from "./limits.ts";
import { DrainPreview } from "./placement.ts";

/** The body that upgrades the nodes with a label. */
export const LabelUpgradeBody = z.strictObject({
  label: LabelFilterText.describe(
    "Selects the nodes by labels: KEY=VALUE, or KEY for any value. Separate several labels with commas",
  ),
  platform_image: Stamp.describe("The stamp of a platform image that a booter has staged"),
  max_unavailable: withDefault(z.number().int().min(1).max(LABEL_DRAIN_NODES_MAX), 1).describe(
    "The maximum number of upgrades that run at the same time. Default: 1",
  ),
  reboot: withDefault(z.enum(UPGRADE_REBOOTS), "agent").describe(
    "agent: the node's agent restarts the machine. operator: an operator restarts the machine, for example through " +
      "its BMC, and the operation waits for the restart. Default: agent",
  ),
  dry_run: withDefault(z.boolean(), false).describe("true: change nothing and return the plan"),
});

/** A node of an upgrade by label. */
const Node = z.object({ server_uuid: z.string(), hostname: z.string() });

/** The planned upgrade of one node. */
export const UpgradedNode = Node.extend({
  platform_image: z.string().nullable().describe("The platform image that the node reports now"),
  preview: DrainPreview.describe("The preview of the node's drain, from the current state"),
  operation_id: z.string().nullable().describe(
    "The id of the node's operation cn-upgrade. The operation is created when the upgrade begins. Null for a dry run",
  ),
});
export type UpgradedNode = z.infer<typeof UpgradedNode>;

/** The plan of an upgrade by label, and its operation. */
export const LabelUpgradeStarted = z.object({
  nodes: z.array(UpgradedNode).describe("The nodes to upgrade, in the order in which they are upgraded: by hostname"),
  current: z.array(Node).describe("The nodes that already run the platform image and need no upgrade"),
  skipped: z.array(Node.extend({ state: z.enum(CN_STATES) })).describe(
    "The nodes with the label that are not approved. They are not upgraded",
  ),
  unfit: z.array(Node.extend({ reason: z.string(), remedy: z.string() })).describe(
    "The nodes that cannot be upgraded. If there is one, the request gets 409. A dry run lists them",
  ),
  operation_id: z.string().nullable().describe(
    "The operation cn-upgrade-label; null for a dry run, and if no node needs an upgrade",
  ),
});
export type LabelUpgradeStarted = z.infer<typeof LabelUpgradeStarted>;

/** A node whose upgrade was refused or failed. */
export const NotUpgraded = Node.extend({
  operation_id: z.string(),
  step: z.string().nullable().describe(
    "The failed step of the operation cn-upgrade; null if the upgrade was refused",
  ),
  reason: z.string(),
  remedy: z.string(),
});
export type NotUpgraded = z.infer<typeof NotUpgraded>;

/** The output of the last step of an upgrade by label. */
export const LabelUpgradeResult = z.object({
  upgraded: z.array(Node.extend({ operation_id: z.string(), moved: z.number().int() })),
  not_upgraded: z.array(NotUpgraded).describe(
    "The nodes whose upgrade was refused or failed. After the first of these nodes, no further upgrade began",
  ),
  not_begun: z.array(Node).describe(
    "The nodes that were not upgraded, because an earlier upgrade was refused or " +
      "failed",
  ),
});
export type LabelUpgradeResult = z.infer<typeof LabelUpgradeResult>;
