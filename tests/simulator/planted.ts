// Mistakes made on purpose, and the invariant that tells of each. Kept plans come first: what once found a mistake
// finds it again at once.
import { plant, type SimulatedBug } from "../../actors/engine/planted.ts";
import { readCorpus } from "./corpus.ts";
import { planFor } from "./plan.ts";
import { run } from "./run.ts";
import type { Invariant } from "./violation.ts";

/** Which invariant tells of each mistake. */
export const CAUGHT_BY: Readonly<Record<SimulatedBug, Invariant>> = {
  answer_before_commit: "1 acknowledged means durable",
  exclusive_answers_early: "1 acknowledged means durable",
  conflict_is_done: "1 acknowledged means durable",
  version_not_compared: "6 one writer",
  incarnation_not_compared: "6 one writer",
  incarnation_reused: "6 one writer",
  fold_forgets_state: "2 legal path",
  decided_by_an_old_clock: "2 legal path",
  reply_of_another: "2 legal path",
  code_never_expires: "2 legal path",
  any_code_approves: "2 legal path",
  disable_keeps_credential: "2 legal path",
  disable_keeps_code: "2 legal path",
  credential_not_erased: "2 legal path",
  unknown_is_refusal: "3 refused means untouched",
  refusal_not_stored: "3 refused means untouched",
  refusal_unchecked: "3b justified answer",
  new_id_on_retry: "4 unknown means at most once",
  no_lookup: "4 unknown means at most once",
  requeue_at_the_back: "5 order of time",
  companion_refusal_ignored: "9 credentials",
  approval_keeps_key: "9 credentials",
  remove_keeps_key: "9 credentials",
  tell_forgotten: "10 operations come to rest",
  deadline_not_stored: "10 operations come to rest",
  output_lost: "10 operations come to rest",
  failure_goes_on: "10 operations come to rest",
  undo_skipped: "10 operations come to rest",
  cancel_forgotten: "10 operations come to rest",
  completion_untold: "10 operations come to rest",
  cancel_leaves_no_tombstone: "12 jobs",
  job_claimed_by_anyone: "12 jobs",
  job_ended_by_anyone: "12 jobs",
  guard_not_asked: "16 nothing dangles",
  close_keeps_budget: "14 auto-approve window",
  window_budget_not_taken: "14 auto-approve window",
  window_never_expires: "14 auto-approve window",
  audit_dropped: "17 audit",
  audit_names_nobody: "17 audit",
  claims_leak: "no bug",
};

const SEEDS_MAX = 6_000;

/** The first plan that finds the mistake: the name of a kept one or a seed; null when none does. */
export async function catchBug(bug: SimulatedBug): Promise<string | null> {
  plant(bug);
  try {
    for (const [name, { plan }] of await readCorpus()) if (await finds(bug, plan)) return name;
    for (let seed = 1; seed <= SEEDS_MAX; seed += 1) if (await finds(bug, planFor(seed))) return `seed ${seed}`;
    return null;
  } finally {
    plant(null);
  }
}

async function finds(bug: SimulatedBug, plan: Parameters<typeof run>[0]): Promise<boolean> {
  const { violations } = await run(plan);
  return violations.some((each) => each.invariant === CAUGHT_BY[bug]);
}

/** One line of a table of them. */
export function bugLine(bug: string, caught_by: string, first: string | null): string {
  return `${bug.padEnd(28)} ${caught_by.padEnd(32)} ${first ?? "not caught"}`;
}
