// Counts events that must occur in a test run, because a run without an event does not test the code that handles
// the event.
import { FAULT_POINTS } from "../../actors/engine/ports.ts";

export const COUNTER_NAMES = [
  "lost_race",
  "stale_load",
  "failed_load",
  "commit_applied_answer_lost",
  "commit_lost",
  "commit_late",
  "commit_late_had_effect",
  "busy",
  "call_halved",
  "known_id_answered",
  "refusal_replayed",
  "exclusive_path",
  "exclusive_commit_failed",
  "guard_refused",
  "chained",
  "chain_broken",
  "take_refused",
  "companion_refused",
  "window_approved",
  "window_exhausted",
  "window_expired_unclosed",
  "code_expired_at_approve",
  "claim_code_taken",
  "overloaded",
  "client_timed_out",
  "client_retried_id",
  "client_sent_afresh",
  "tell_joined",
  "tell_delivered",
  "tell_delivered_twice",
  "saga_succeeded",
  "saga_unwound",
  "operation_abandoned",
  "job_cancelled_in_hand",
  "trespass_refused",
  "crash_anywhere",
  ...FAULT_POINTS.map((point) => `crash_${point}` as const),
  "process_replaced",
] as const;

export type CounterName = (typeof COUNTER_NAMES)[number];
export type Counters = Record<CounterName, number>;

export function newCounters(): Counters {
  return Object.fromEntries(COUNTER_NAMES.map((name) => [name, 0])) as Counters;
}

/** Returns the names of the counters that are still zero. */
export function silent(counters: Counters): readonly CounterName[] {
  return COUNTER_NAMES.filter((name) => counters[name] === 0);
}
