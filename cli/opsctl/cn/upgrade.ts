import { UPGRADE_REBOOTS } from "../../../src/contract/enums.ts";
import type {
  LabelUpgradeResult,
  LabelUpgradeStarted,
  NotUpgraded,
  UpgradedNode,
} from "../../../src/contract/label-upgrade.ts";
import { OPERATION_PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import type { OperationSummary, OperationView } from "../../../src/contract/operation.ts";
import { type AnyCommand, command, each, oneOf, wholeNumber } from "../../framework.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure, usageFailure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { labelFilter } from "../../internal/labels.ts";
import { endText, follow } from "../../internal/operation/follow.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { type Column, tableText } from "../../internal/table.ts";
import { previewText } from "./drain-preview.ts";
import { instancesText } from "./remaining-text.ts";

export function upgrade(): AnyCommand {
  return command(
    "upgrade",
    "Upgrade the nodes with a label: drain, restart and uncordon each node",
    "--label rack=a3 --platform 20261121T000000Z",
  )
    .option("--label <label>", "upgrade the nodes with this label, KEY=VALUE or KEY; may be repeated", each)
    .requiredOption("--platform <stamp>", "stamp of a staged platform image (opsctl pi list)")
    .option(
      "--max-unavailable <number>",
      "maximum number of nodes that are upgraded at once (default 1)",
      wholeNumber(1),
    )
    .addOption(
      oneOf("--reboot <who>", "who restarts the machines: their agents, or you through their BMCs", UPGRADE_REBOOTS)
        .default("agent" as const),
    )
    .option("--dry-run", "show the plan; change nothing")
    .option("--no-wait", "do not wait: print the operation")
    .action(withIo(async (io, { label: labels, platform, maxUnavailable, reboot, dryRun, wait }) => {
      const label = labelFilter(labels);
      if (label === undefined) throw usageFailure("pass --label");
      const body = {
        label,
        platform_image: platform,
        max_unavailable: maxUnavailable ?? 1,
        reboot,
        dry_run: dryRun === true,
      };
      const started = await io.send<LabelUpgradeStarted>({ method: "POST", path: "/v1/cn-upgrades", body });
      const { operation_id, nodes, current } = started;
      if (operation_id === null) {
        if (dryRun === true || current.length === 0) return io.print(started, planText(started));
        return io.print(started, `All ${current.length} nodes run platform image ${plainText(platform)} already`);
      }
      if (wait === false) {
        const note = `Operation ${operation_id} upgrades ${nodes.length} nodes; to wait for it, run: ` +
          `opsctl operation wait ${operation_id}`;
        return io.print(started, `${note}\n${planText(started)}`);
      }
      const progressOf = (operation: OperationView) => progressText(io, operation.state, nodes);
      const ended = await follow(io, { id: operation_id, limit_ms: Infinity, poll_s_max: POLL_S, progressOf });
      // If a node is not upgraded, the operation has failed, but its last step has a result.
      const result = (ended.steps.at(-1)?.output ?? null) as LabelUpgradeResult | null;
      if (result === null) throw new Failure(endText(ended), EXIT.failure);
      io.print(result, resultText(result, platform));
      const { not_upgraded } = result;
      if (not_upgraded.length > 0) {
        const names = not_upgraded.map(({ hostname }) => plainText(hostname)).join(", ");
        throw new Failure(`stopped at ${names}`, EXIT.failure);
      }
    }));
}

/** Interval at which the progress of the nodes is read, in seconds. */
const POLL_S = 2;

const PLAN: readonly Column<UpgradedNode>[] = [
  ["NODE", (row) => row.hostname],
  ["PLATFORM", (row) => row.platform_image ?? undefined],
  ["INSTANCES", (row) => row.preview.instances_on_cn],
  ["FIT_ELSEWHERE", (row) => row.preview.placeable.length],
  ["OPERATION", (row) => row.operation_id ?? undefined],
];

function planText({ nodes, current, skipped, unfit }: LabelUpgradeStarted): string {
  const names = (list: readonly { readonly hostname: string }[]) =>
    list.map((each) => plainText(each.hostname)).join(", ");
  const lines = [
    nodes.length === 0 ? "(no nodes to upgrade)" : tableText(PLAN, nodes),
    ...current.length === 0 ? [] : [`These nodes run the platform image already: ${names(current)}`],
    ...skipped.length === 0 ? [] : [
      `Not approved, so not upgraded: ${
        skipped.map(({ hostname, state }) => `${plainText(hostname)} (${state})`).join(", ")
      }`,
    ],
    ...unfit.map(({ hostname, reason, remedy }) =>
      `${plainText(hostname)} cannot be upgraded: ${plainText(reason)}. Remedy: ${plainText(remedy)}`
    ),
    ...nodes.filter(({ preview }) => preview.not_placeable.length > 0).map(({ hostname, preview }) =>
      `\n${plainText(hostname)}: ${previewText(preview)}`
    ),
  ];
  return lines.join("\n");
}

function resultText({ upgraded, not_upgraded, not_begun }: LabelUpgradeResult, platform: string): string {
  const moved = upgraded.reduce((sum, node) => sum + node.moved, 0);
  const nodes = upgraded.length === 1 ? "1 node" : `${upgraded.length} nodes`;
  const from = upgraded.length === 1 ? "it" : "them";
  const done = `Upgraded ${nodes} to ${plainText(platform)} and moved ${instancesText(moved)} from ${from}`;
  const begun = not_begun.length === 0
    ? ""
    : `\nNot begun: ${not_begun.map(({ hostname }) => plainText(hostname)).join(", ")}`;
  return `${done}${begun}${not_upgraded.map(notUpgradedText).join("")}`;
}

function notUpgradedText({ hostname, operation_id, reason, remedy }: NotUpgraded): string {
  return `\n\n${plainText(hostname)} is not upgraded: ${plainText(reason)}. Remedy: ${plainText(remedy)}` +
    `\nDetails: opsctl operation show ${operation_id}`;
}

/** Names the steps of the running upgrades, and counts the upgrades that ended. */
async function progressText(io: Io, state: string, nodes: readonly UpgradedNode[]): Promise<readonly [string, string]> {
  const listed = await io.get<OperationSummary[]>("/v1/operations", {
    kind: "cn-upgrade",
    limit: OPERATION_PAGE_ROWS_MAX,
  });
  const byId = new Map(listed.map((operation) => [operation.id, operation]));
  const found = nodes.map(({ hostname, operation_id }) => ({ hostname, operation: byId.get(operation_id ?? "") }));
  const running = await Promise.all(
    found.filter(({ operation }) => operation?.state === "running").map(async ({ hostname, operation }) => {
      const { steps } = await io.get<OperationView>(`/v1/operations/${operation!.id}`);
      const at = steps.find(({ status }) => status === "running" || status === "pending")?.name;
      return at === undefined ? hostname : `${hostname} (${at})`;
    }),
  );
  const ended = found.filter(({ operation }) => operation !== undefined && operation.state !== "running").length;
  const now = running.length === 0 ? "" : `, upgrading ${running.join(", ")}`;
  return [`${state}: ${ended} of ${nodes.length} nodes${now}`, ""];
}
