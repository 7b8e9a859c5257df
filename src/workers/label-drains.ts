// Continues the drains of nodes by label. Every process does this. All progress is in the database, so the operation
// continues after a crash. The id of a node's drain depends only on the operation and the node, so the drain begins
// only once.
import type { Outcome } from "../../actors/engine/types.ts";
import type { Ports } from "../../actors/engine/ports.ts";
import type { LabelDrainResult } from "../contract/label-drain.ts";
import { type DrainedNode, nextOfLabelDrain } from "../lib/placement/label-drain-progress.ts";
import { createLoop } from "./loop.ts";

/** A running drain by label, as the database has it now. */
export type LabelDrain = {
  readonly operation_id: string;
  readonly max_unavailable: number;
  readonly nodes: readonly DrainedNode[];
};

export type LabelDrainsOptions = {
  readonly running: () => Promise<readonly LabelDrain[]>;
  /** Begins the drain of a node. */
  readonly begin: (drain: LabelDrain, node: DrainedNode) => Promise<Outcome>;
  readonly end: (operation_id: string, result: LabelDrainResult) => Promise<unknown>;
  readonly ports: Pick<Ports, "report">;
};

/** The pause between two passes. */
const EVERY_MS = 1_000;

export function createLabelDrains({ running, begin, end, ports }: LabelDrainsOptions) {
  /**
   * The refused drains that this process has seen, by operation and node. After a restart, the process tries once more
   * to begin each of these drains.
   */
  let refused = new Map<string, Map<string, string>>();

  async function pass(): Promise<void> {
    try {
      const drains = await running();
      refused = new Map(drains.map(({ operation_id: id }) => [id, refused.get(id) ?? new Map<string, string>()]));
      for (const drain of drains) await advance(drain, refused.get(drain.operation_id)!);
    } catch (error) {
      ports.report("background work failed: drains of nodes by label", error);
    }
  }

  async function advance(drain: LabelDrain, refusals: Map<string, string>): Promise<void> {
    const decided = nextOfLabelDrain(drain.nodes, drain.max_unavailable, refusals);
    if (decided.next === "end") return void await end(drain.operation_id, decided.result);
    for (const node of decided.nodes) {
      const outcome = await begin(drain, node);
      // An overloaded server accepts the message later. If another process has begun this drain, the next pass sees the
      // drain, and the refusal does not count.
      if (outcome.ok) continue;
      if (outcome.fault.kind !== "unavailable") refusals.set(node.server_uuid, outcome.fault.message);
      return;
    }
  }

  return createLoop(pass, EVERY_MS);
}
