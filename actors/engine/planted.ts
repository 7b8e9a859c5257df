// Faults on purpose: each name is a mistake that somebody could make, behind one switch in the code that would make it.
// The tests of the simulator turn one on and expect the history checker to find it; nothing else may call plant().

/** Which mistake, in the words of the one who made it. */
export type PlantedBug = (typeof PLANTED_BUGS)[number];

export const PLANTED_BUGS = [
  "answer_before_commit",
  "exclusive_answers_early",
  "unknown_is_refusal",
  "new_id_on_retry",
  "no_lookup",
  "refusal_not_stored",
  "refusal_unchecked",
  "version_not_compared",
  "incarnation_not_compared",
  "conflict_is_done",
  "fold_forgets_state",
  "decided_by_an_old_clock",
  "claims_leak",
  "reply_of_another",
  "requeue_at_the_back",
  "companion_refusal_ignored",
  "audit_dropped",
  "window_budget_not_taken",
  "window_never_expires",
  "code_never_expires",
  "any_code_approves",
  "disable_keeps_code",
  "rejoin_keeps_key",
  "remove_keeps_key",
  "credential_not_erased",
  "tell_forgotten",
] as const;

let active: PlantedBug | null = null;

/** Whether this mistake is made. Always false outside the tests of the simulator. */
export function planted(bug: PlantedBug): boolean {
  return active === bug;
}

/** Turns one mistake on, or all off. For tests only. */
export function plant(bug: PlantedBug | null): void {
  active = bug;
}
