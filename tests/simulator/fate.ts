// Decides which database faults hit the calls of one process. For example, a call is slow, fails, reads stale rows,
// loses its answer, or takes effect after it seemed lost.
import type { Fate } from "../support/memory-store.ts";
import type { Unit } from "../../actors/engine/store.ts";
import { type ActorRef, refKey } from "../../actors/engine/types.ts";
import { draw, type Environment, later } from "./environment.ts";

/** The maximum time after which a call that seemed lost takes effect, in milliseconds. */
const LATE_MS_MAX = 3_000;

export function fateIn(environment: Environment): Fate {
  return {
    load: (refs) => loadFate(environment, refs),
    commit: (apply, units) => commitFate(environment, apply, units),
  };
}

/**
 * Returns the delay of a message to or from the database. In 97 of 100 cases it is at most the plan's `latency_ms`, and
 * otherwise almost 500 ms.
 */
export function latencyMs(environment: Environment, purpose: string): number {
  const drawn = draw(environment, `latency ${purpose}`);
  return drawn > 0.97 ? 500 * drawn : drawn * environment.plan.latency_ms;
}

async function loadFate(environment: Environment, refs: readonly ActorRef[]): Promise<"now" | "stale" | "fail"> {
  const purpose = `load ${refs[0] === undefined ? "" : refKey(refs[0])}`;
  const { rates } = environment.plan;
  const drawn = environment.quiet ? 1 : draw(environment, purpose);
  const way = drawn < rates.failed_load ? "fail" : drawn < rates.failed_load + rates.stale_load ? "stale" : "now";
  if (way === "fail") environment.counters.failed_load += 1;
  if (way === "stale") environment.counters.stale_load += 1;
  return await later(environment, latencyMs(environment, purpose), way);
}

type Way = "ok" | "busy" | "lost" | "answer_lost" | "late";

async function commitFate(environment: Environment, apply: () => void, units: readonly Unit[]): Promise<Way> {
  const purpose = `commit ${units[0]?.choices[0]?.replies[0]?.msg_id ?? ""}`;
  const way = environment.quiet ? "ok" : wayOf(environment, draw(environment, purpose));
  if (way === "busy") environment.counters.busy += 1;
  if (way === "lost") environment.counters.commit_lost += 1;
  if (way === "answer_lost") environment.counters.commit_applied_answer_lost += 1;
  if (way === "late") {
    environment.counters.commit_late += 1;
    environment.scheduler.after(draw(environment, `late ${purpose}`) * LATE_MS_MAX, () => land(environment, apply));
  }
  return await later(environment, latencyMs(environment, purpose), way);
}

function wayOf(environment: Environment, drawn: number): Way {
  const { busy, commit_lost, answer_lost, commit_late } = environment.plan.rates;
  if (drawn < busy) return "busy";
  if (drawn < busy + commit_lost) return "lost";
  if (drawn < busy + commit_lost + answer_lost) return "answer_lost";
  return drawn < busy + commit_lost + answer_lost + commit_late ? "late" : "ok";
}

function land(environment: Environment, apply: () => void): void {
  const before = environment.database.tables.seen.size;
  apply();
  if (environment.database.tables.seen.size > before) environment.counters.commit_late_had_effect += 1;
}
