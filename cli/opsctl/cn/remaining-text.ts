// Formats the instances that a drain or an evacuation left on a node.
import type { DrainResult, RemainingInstance } from "../../../src/contract/drain.ts";
import type { OperationView } from "../../../src/contract/operation.ts";
import { type Column, tableText } from "../../internal/table.ts";

const COLUMNS: readonly Column<RemainingInstance>[] = [
  ["INSTANCE_ID", (row) => row.instance_id],
  ["NAME", (row) => row.instance_name],
  ["REASON", (row) => row.reason],
  ["REMEDY", (row) => row.remedy],
];

/**
 * Returns the result of a drain or an evacuation; null if the operation ended without a result. If instances are left
 * on the node, the operation has failed, but has a result. On older servers, such an operation ends as done.
 */
export function drainResult({ steps }: OperationView): DrainResult | null {
  return (steps.at(-1)?.output ?? null) as DrainResult | null;
}

/** Returns `1 instance` or `2 instances`. */
export function instancesText(count: number): string {
  return `${count} ${count === 1 ? "instance" : "instances"}`;
}

/** Returns a part of the sentence about a drain of several nodes: `1 node and moved 2 instances from it`. */
export function movedText(nodes: number, instances: number): string {
  const from = nodes === 1 ? "1 node" : `${nodes} nodes`;
  return `${from} and moved ${instancesText(instances)} from ${nodes === 1 ? "it" : "them"}`;
}

/** Returns the instances that are still on the node as a table after an empty line, or an empty text. */
export function remainingText(remaining: readonly RemainingInstance[]): string {
  return remaining.length === 0 ? "" : `\n\n${tableText(COLUMNS, remaining)}`;
}
