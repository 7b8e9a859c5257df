// How the database treats the calls of one process: late, old, refused, lost before or after it took effect, or taking
// effect long after it seemed lost.
import type { Fate } from "../../actors/engine/memory-store.ts";
import type { Unit } from "../../actors/engine/store.ts";
import { type ActorRef, refKey } from "../../actors/engine/types.ts";
import { draw, later, type World } from "./world.ts";

/** A call that the client lost may still take effect this much later. */
const LATE_MS_MAX = 3_000;

export function fateIn(world: World): Fate {
  return { load: (refs) => loadFate(world, refs), commit: (apply, units) => commitFate(world, apply, units) };
}

/** How long a message to or from the database takes; now and then much longer. */
export function latencyMs(world: World, purpose: string): number {
  const drawn = draw(world, `latency ${purpose}`);
  return drawn > 0.97 ? 500 * drawn : drawn * world.plan.latency_ms;
}

async function loadFate(world: World, refs: readonly ActorRef[]): Promise<"now" | "stale" | "fail"> {
  const purpose = `load ${refs[0] === undefined ? "" : refKey(refs[0])}`;
  const { rates } = world.plan;
  const drawn = world.quiet ? 1 : draw(world, purpose);
  const way = drawn < rates.failed_load ? "fail" : drawn < rates.failed_load + rates.stale_load ? "stale" : "now";
  if (way === "fail") world.counters.failed_load += 1;
  if (way === "stale") world.counters.stale_load += 1;
  return await later(world, latencyMs(world, purpose), way);
}

type Way = "ok" | "busy" | "lost" | "answer_lost" | "late";

async function commitFate(world: World, apply: () => void, units: readonly Unit[]): Promise<Way> {
  const purpose = `commit ${units[0]?.choices[0]?.replies[0]?.msg_id ?? ""}`;
  const way = world.quiet ? "ok" : wayOf(world, draw(world, purpose));
  if (way === "busy") world.counters.busy += 1;
  if (way === "lost") world.counters.commit_lost += 1;
  if (way === "answer_lost") world.counters.commit_applied_answer_lost += 1;
  if (way === "late") {
    world.counters.commit_late += 1;
    world.scheduler.after(draw(world, `late ${purpose}`) * LATE_MS_MAX, () => land(world, apply));
  }
  return await later(world, latencyMs(world, purpose), way);
}

function wayOf(world: World, drawn: number): Way {
  const { busy, commit_lost, answer_lost, commit_late } = world.plan.rates;
  if (drawn < busy) return "busy";
  if (drawn < busy + commit_lost) return "lost";
  if (drawn < busy + commit_lost + answer_lost) return "answer_lost";
  return drawn < busy + commit_lost + answer_lost + commit_late ? "late" : "ok";
}

function land(world: World, apply: () => void): void {
  const before = world.database.tables.seen.size;
  apply();
  if (world.database.tables.seen.size > before) world.counters.commit_late_had_effect += 1;
}
