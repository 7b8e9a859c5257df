// Continues the drains and evacuations of nodes. Every process does this. All progress is in the database, so this work
// continues after a crash. The actor of an instance refuses a second migration while one runs. The id of a migration
// depends only on the drain and the instance, so a drain begins only one migration of each instance.
import type { Outcome } from "../../actors/engine/types.ts";
import type { Ports } from "../../actors/engine/ports.ts";
import { DRAIN_MIGRATIONS_MAX } from "../contract/limits.ts";
import type { DrainResult } from "../contract/drain.ts";
import { type Drain, type Move, nextOfDrain, type Refusal } from "../lib/placement/drain-progress.ts";
import { createLoop } from "./loop.ts";

export type DrainsOptions = {
  readonly running: () => Promise<readonly Drain[]>;
  /** Begins a migration. `tries` is the number of times that it was refused. */
  readonly begin: (drain: Drain, move: Move, tries: number) => Promise<Outcome>;
  readonly end: (operation_id: string, result: DrainResult) => Promise<unknown>;
  readonly ports: Pick<Ports, "report">;
};

/** The pause between two passes. */
const EVERY_MS = 1_000;

export function createDrains({ running, begin, end, ports }: DrainsOptions) {
  /**
   * The refused migrations that this process has seen, by drain and instance. After a restart, the counts begin at 0.
   */
  let refused = new Map<string, Map<string, Refusal>>();

  async function pass(): Promise<void> {
    try {
      const drains = await running();
      refused = new Map(drains.map(({ operation_id: id }) => [id, refused.get(id) ?? new Map<string, Refusal>()]));
      // Continues all drains at the same time: with 100 drains, a pass begins up to 400 migrations. If one drain fails,
      // the others still continue.
      const ends = drains.map((drain) => advance(drain, refused.get(drain.operation_id)!).catch(failed));
      await Promise.all(ends);
    } catch (error) {
      failed(error);
    }
  }

  function failed(error: unknown): void {
    ports.report("background work failed: drains of nodes", error);
  }

  async function advance(drain: Drain, refusals: Map<string, Refusal>): Promise<void> {
    const decided = nextOfDrain(drain.moves, drain.not_placeable, refusals);
    if (decided.next === "end") return void await end(drain.operation_id, decided.result);
    const room = Math.max(0, DRAIN_MIGRATIONS_MAX - drain.active);
    for (const move of decided.moves.slice(0, room)) {
      const tries = refusals.get(move.instance_id)?.tries ?? 0;
      const outcome = await begin(drain, move, tries);
      // A full queue does not count as a refused migration.
      if (outcome.ok || (outcome.fault.kind === "unavailable" && outcome.fault.error_code === undefined)) continue;
      refusals.set(move.instance_id, { tries: tries + 1, reason: outcome.fault.message });
    }
  }

  return createLoop(pass, EVERY_MS);
}
