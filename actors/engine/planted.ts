// Faults on purpose: each name is a mistake that somebody could make, behind one switch in the code that would make it.
// Trials turn one on and expect their checks to find it; nothing else may call plant().

/** Which mistake, in the words of the one who made it. */
export type PlantedBug = SimulatedBug | StoredBug;
export type SimulatedBug = (typeof SIMULATED_BUGS)[number];
export type StoredBug = (typeof STORED_BUGS)[number];

/** Found by simulated histories. */
export const SIMULATED_BUGS = [
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
  "approval_keeps_key",
  "remove_keeps_key",
  "credential_not_erased",
  "tell_forgotten",
  "incarnation_reused",
  "deadline_not_stored",
  "audit_names_nobody",
  "guard_not_asked",
  "close_keeps_budget",
  "disable_keeps_credential",
  "output_lost",
  "failure_goes_on",
  "undo_skipped",
  "cancel_forgotten",
  "cancel_leaves_no_tombstone",
  "completion_untold",
  "job_claimed_by_anyone",
  "job_ended_by_anyone",
] as const;

/** Found on a real PostgreSQL: by pairs of operations and by what two processes ask at once. */
export const STORED_BUGS = [
  "guard_not_sent",
  "room_not_counted",
  "quota_not_counted",
  "address_kept",
  "idempotency_key_forgotten",
  "idempotency_body_ignored",
  "repeated_request_forgotten",
  "poll_answers_one",
] as const;

let active: PlantedBug | null = null;

/** Whether this mistake is made. Always false outside tests and trials. */
export function planted(bug: PlantedBug): boolean {
  return active === bug;
}

/** Turns one mistake on, or all off. For tests only. */
export function plant(bug: PlantedBug | null): void {
  active = bug;
}
