// Drains the nodes with a label: `opsctl cn drain --label`.
import type {
  LabelDrainResult,
  LabelDrainStarted,
  NotEmptied,
  PlannedNode,
} from "../../../src/contract/label-drain.ts";
import type { OperationSummary, OperationView } from "../../../src/contract/operation.ts";
import type { DrainPreview } from "../../../src/contract/placement.ts";
import { OPERATION_PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { endText, follow } from "../../internal/operation/follow.ts";
import { plainText } from "../../internal/plain-text.ts";
import { type Column, tableText } from "../../internal/table.ts";
import { previewText } from "./drain-preview.ts";
import { movedText, remainingText } from "./remaining-text.ts";

/** The options of the command. */
export type LabelDrain = {
  readonly label: string;
  readonly max_unavailable: number;
  readonly dry_run: boolean;
  readonly wait: boolean;
};

const PLAN: readonly Column<PlannedNode>[] = [
  ["NODE", (row) => row.hostname],
  ["INSTANCES", (row) => row.preview.instances_on_cn],
  ["FIT_ELSEWHERE", (row) => row.preview.placeable.length],
  ["OPERATION", (row) => row.operation_id ?? undefined],
];

/**
 * Drains the nodes, waits for the end unless `wait` is false, and prints the result. With `dry_run`, only prints the
 * plan. Throws a Failure if no approved node has the label, or if the drain did not empty a node.
 */
export async function drainLabel(io: Io, { label, max_unavailable, dry_run, wait }: LabelDrain): Promise<void> {
  const body = { label, max_unavailable, dry_run };
  const started = await io.send<LabelDrainStarted>({ method: "POST", path: "/v1/cn-drains", body });
  const { operation_id, nodes } = started;
  if (nodes.length === 0) throw new Failure(`no approved node has the label ${plainText(label)}`, EXIT.failure);
  if (operation_id === null) return io.print(started, planText(started, (preview) => preview.instances_on_cn > 0));
  if (!wait) {
    const note = `Operation ${operation_id} drains ${nodes.length} nodes; to wait for it, run: opsctl operation wait`;
    return io.print(started, `${note} ${operation_id}\n${planText(started, isStuck)}`);
  }
  const progressOf = (operation: OperationView) => progressText(io, operation.state, nodes);
  const ended = await follow(io, { id: operation_id, limit_ms: Infinity, poll_s_max: POLL_S, progressOf });
  // If a node is not empty, the operation has failed, but its last step has a result.
  const result = (ended.steps.at(-1)?.output ?? null) as LabelDrainResult | null;
  if (result === null) throw new Failure(endText(ended), EXIT.failure);
  io.print(result, resultText(result));
  if (result.not_emptied.length > 0) {
    throw new Failure(
      `stopped at ${result.not_emptied.map(({ hostname }) => plainText(hostname)).join(", ")}`,
      EXIT.failure,
    );
  }
}

/** Interval at which the progress of the nodes is read, in seconds. Draining an empty node takes about this long. */
const POLL_S = 2;

function isStuck({ not_placeable }: DrainPreview): boolean {
  return not_placeable.length > 0;
}

/** Returns the text of a plan. Lists the instances of the nodes for whose previews `isShown` returns true. */
function planText({ nodes, skipped }: LabelDrainStarted, isShown: (preview: DrainPreview) => boolean): string {
  const left = skipped.length === 0
    ? ""
    : `\nNot approved, so not drained: ${
      skipped.map(({ hostname, state }) => `${plainText(hostname)} (${state})`).join(", ")
    }`;
  const previews = nodes.filter(({ preview }) => isShown(preview)).map(({ hostname, preview }) =>
    `\n\n${plainText(hostname)}: ${previewText(preview)}`
  );
  return `${tableText(PLAN, nodes)}${left}${previews.join("")}`;
}

function resultText({ drained, not_emptied, not_begun }: LabelDrainResult): string {
  const moved = drained.reduce((sum, node) => sum + node.moved, 0);
  const cordoned = drained.length === 1 ? "the node is cordoned" : "these nodes are cordoned";
  const done = `Drained ${movedText(drained.length, moved)}; ${cordoned}`;
  const begun = not_begun.length === 0
    ? ""
    : `\nNot begun: ${not_begun.map(({ hostname }) => plainText(hostname)).join(", ")}`;
  return `${done}${begun}${not_emptied.map(notEmptiedText).join("")}`;
}

function notEmptiedText({ hostname, reason, remedy, remaining }: NotEmptied): string {
  return `\n\n${plainText(hostname)} is not empty: ${plainText(reason)}. Remedy: ${plainText(remedy)}${
    remainingText(remaining)
  }`;
}

/** Names the nodes whose drains run, and counts the drains that ended. */
async function progressText(io: Io, state: string, nodes: readonly PlannedNode[]): Promise<readonly [string, string]> {
  const drains = await io.get<OperationSummary[]>("/v1/operations", {
    kind: "cn-drain",
    limit: OPERATION_PAGE_ROWS_MAX,
  });
  const states = new Map(drains.map((drain) => [drain.id, drain.state]));
  const found = nodes.map(({ hostname, operation_id }) => ({ hostname, state: states.get(operation_id ?? "") }));
  const running = found.filter((node) => node.state === "running").map(({ hostname }) => hostname);
  const ended = found.filter((node) => node.state !== undefined && node.state !== "running").length;
  const now = running.length === 0 ? "" : `, draining ${running.join(", ")}`;
  return [`${state}: ${ended} of ${nodes.length} nodes${now}`, ""];
}
