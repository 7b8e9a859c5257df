// Decides from the stored state what a drain by label does next: it begins the drains of some nodes, or ends.
import type { DrainResult } from "../../contract/drain.ts";
import type { OperationState } from "../../contract/enums.ts";
import type { LabelDrainResult, NotEmptied } from "../../contract/label-drain.ts";
import { stillOnNode } from "./drain-progress.ts";

/** A node of the operation, as the database has it now. */
export type DrainedNode = {
  readonly server_uuid: string;
  readonly hostname: string;
  /** The id of the operation that drains the node. The operation may not exist yet. */
  readonly operation_id: string;
  /** The operation that drains the node; null before it begins. */
  readonly drain:
    | { readonly state: OperationState; readonly result: DrainResult | null; readonly error: string | null }
    | null;
};

/** The next action of a drain by label. */
export type LabelDrainNext =
  | { readonly next: "begin"; readonly nodes: readonly DrainedNode[] }
  | { readonly next: "end"; readonly result: LabelDrainResult };

/**
 * Returns the nodes whose drains can begin. Returns the result if no drain runs and none can begin. After a drain has
 * failed or was refused, no other drain begins. Drains begin in the order of the nodes. The number of drains that have
 * begun exceeds the number of ended drains by at most `max_unavailable`. A process that read an older state counts
 * fewer ended drains, so it does not exceed this limit.
 * @param refusals - The reasons of refused drains, by node.
 */
export function nextOfLabelDrain(
  nodes: readonly DrainedNode[],
  max_unavailable: number,
  refusals: ReadonlyMap<string, string>,
): LabelDrainNext {
  const running = nodes.filter(({ drain }) => drain !== null && isRunning(drain.state));
  const not_emptied = nodes.flatMap((node) => notEmptied(node, refusals) ?? []);
  const stopped = new Set(not_emptied.map(({ server_uuid }) => server_uuid));
  const waiting = nodes.filter(({ drain, server_uuid }) => drain === null && !stopped.has(server_uuid));
  const begins = stopped.size > 0 ? [] : waiting.slice(0, Math.max(0, max_unavailable - running.length));
  if (begins.length > 0 || running.length > 0) return { next: "begin", nodes: begins };
  const drained = nodes.flatMap(({ drain, server_uuid, hostname, operation_id }) =>
    drain === null || stopped.has(server_uuid)
      ? []
      : [{ server_uuid, hostname, operation_id, moved: drain.result?.moved ?? 0 }]
  );
  const not_begun = waiting.map(({ server_uuid, hostname }) => ({ server_uuid, hostname }));
  return { next: "end", result: { drained, not_emptied, not_begun } };
}

function isRunning(state: OperationState): boolean {
  return state === "pending" || state === "running" || state === "unwinding";
}

/** Returns why the node could not be drained, or null. */
function notEmptied(node: DrainedNode, refusals: ReadonlyMap<string, string>): NotEmptied | null {
  const { server_uuid, hostname, operation_id, drain } = node;
  const because = (reason: string, remedy: string, remaining: NotEmptied["remaining"] = []): NotEmptied => ({
    server_uuid,
    hostname,
    operation_id,
    reason,
    remedy,
    remaining,
  });
  if (drain === null) {
    const refusal = refusals.get(server_uuid);
    return refusal === undefined ? null : because(refusal, "remove the cause, then drain the label again");
  }
  if (isRunning(drain.state)) return null;
  const remaining = drain.result?.remaining ?? [];
  if (remaining.length === 0) {
    if (drain.state === "succeeded") return null;
    const reason = `operation ${operation_id} drained the node and did not succeed: ${drain.error ?? drain.state}`;
    return because(reason, "remove the cause, then drain the label again");
  }
  return because(
    stillOnNode(remaining.length),
    "follow the remedy of each instance, then drain the label again",
    remaining,
  );
}
