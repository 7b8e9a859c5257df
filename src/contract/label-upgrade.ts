// Defines the schemas of an upgrade by label, which upgrades the nodes with a label to a platform image, at most
// `max_unavailable` at once (docs/nodes.md, "Upgrade by label").
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
    "The labels of the nodes: KEY=VALUE, or KEY for any value; separate several labels with commas",
  ),
  platform_image: Stamp.describe("The stamp of a platform image that a booter has staged"),
  max_unavailable: withDefault(z.number().int().min(1).max(LABEL_DRAIN_NODES_MAX), 1).describe(
    "The maximum number of upgrades that run at once. Default: 1",
  ),
  reboot: withDefault(z.enum(UPGRADE_REBOOTS), "agent").describe(
    "The restart of the machines. agent: the node's agent restarts its machine, by a job. operator: the operation " +
      "waits until an operator has restarted the machine, for example through its BMC. Default: agent",
  ),
  dry_run: withDefault(z.boolean(), false).describe("true: change nothing and return the plan"),
});

/** A node of an upgrade by label. */
const Node = z.object({ server_uuid: z.string(), hostname: z.string() });

/** The planned upgrade of one node. */
export const UpgradedNode = Node.extend({
  platform_image: z.string().nullable().describe("The platform image that the node reports now"),
  preview: DrainPreview.describe("The preview of the node's drain, computed from the current state"),
  operation_id: z.string().nullable().describe(
    "The id of the node's operation cn-upgrade, which is created when the upgrade begins; null for a dry run",
  ),
});
export type UpgradedNode = z.infer<typeof UpgradedNode>;

/** The plan of an upgrade by label, and its operation. */
export const LabelUpgradeStarted = z.object({
  nodes: z.array(UpgradedNode).describe("The nodes to upgrade, sorted by hostname. They are upgraded in this order"),
  current: z.array(Node).describe("Nodes that run the platform image already. They are not restarted"),
  skipped: z.array(Node.extend({ state: z.enum(CN_STATES) })).describe(
    "Nodes with the label that are not approved. They are not upgraded",
  ),
  unfit: z.array(Node.extend({ reason: z.string(), remedy: z.string() })).describe(
    "Nodes that cannot be upgraded. While there is such a node, the request gets 409, unless `dry_run` is true",
  ),
  operation_id: z.string().nullable().describe(
    "The operation cn-upgrade-label; null for a dry run, and if every node runs the image already",
  ),
});
export type LabelUpgradeStarted = z.infer<typeof LabelUpgradeStarted>;

/** A node whose upgrade was refused or failed. */
export const NotUpgraded = Node.extend({
  operation_id: z.string(),
  step: z.string().nullable().describe(
    "The step of the operation cn-upgrade that failed; null if the operation did not begin",
  ),
  reason: z.string(),
  remedy: z.string(),
});
export type NotUpgraded = z.infer<typeof NotUpgraded>;

/** The output of the last step of an upgrade by label. */
export const LabelUpgradeResult = z.object({
  upgraded: z.array(Node.extend({ operation_id: z.string(), moved: z.number().int() })),
  not_upgraded: z.array(NotUpgraded).describe(
    "The nodes whose upgrades were refused or failed. After the first of them, no further upgrade began",
  ),
  not_begun: z.array(Node).describe("The nodes whose upgrades did not begin, because an earlier upgrade failed"),
});
export type LabelUpgradeResult = z.infer<typeof LabelUpgradeResult>;
