// Defines mutants of the actors' decisions. Simulated histories catch them.
import type { Invariant } from "../../simulator/violation.ts";
import type { Mutant } from "./mutant.ts";

const CLAIM = "actors/enrolment-claim/transition.ts";
const REGISTRATION = "actors/cn/registration.ts";
const RETIREMENT = "actors/cn/retirement.ts";
const SITE = "actors/site/transition.ts";
const SAGA = "actors/saga/transition.ts";
const JOB = "actors/job/transition.ts";

export const ACTOR_MUTANTS: readonly Mutant<Invariant>[] = [
  {
    name: "any_code_approves",
    caughtBy: "2 legal path",
    edits: [{ file: CLAIM, find: "s.claim_code !== m.claim_code || now", replace: "now" }],
  },
  {
    name: "code_never_expires",
    caughtBy: "2 legal path",
    edits: [{ file: CLAIM, find: "m.claim_code || now >= s.expires_at", replace: "m.claim_code" }],
  },
  {
    name: "disable_keeps_credential",
    caughtBy: "2 legal path",
    edits: [{
      file: RETIREMENT,
      find: "claims: [],\n    pending_credential: null,",
      replace: "claims: [],\n    pending_credential: s.pending_credential,",
    }],
  },
  {
    name: "disable_keeps_code",
    caughtBy: "2 legal path",
    edits: [{ file: RETIREMENT, find: "...endClaims(s.server_uuid),", replace: "" }],
  },
  {
    name: "credential_not_erased",
    caughtBy: "2 legal path",
    edits: [{ file: REGISTRATION, find: "return go({ ...s, pending_credential: null });", replace: "return go(s);" }],
  },
  {
    name: "approval_keeps_key",
    caughtBy: "9 credentials",
    edits: [{ file: REGISTRATION, find: "...(replaced === null ? [] : [dropKey(replaced)]),", replace: "" }],
  },
  {
    name: "remove_keeps_key",
    caughtBy: "9 credentials",
    edits: [{
      file: RETIREMENT,
      find: "...dropped(s),\n    ...[...macs]",
      replace: "...[...macs]",
    }],
  },
  {
    name: "window_budget_not_taken",
    caughtBy: "14 auto-approve window",
    edits: [{ file: REGISTRATION, find: "take(AUTO_APPROVE_BUDGET, 1,", replace: "take(AUTO_APPROVE_BUDGET, 0," }],
  },
  {
    name: "window_never_expires",
    caughtBy: "14 auto-approve window",
    edits: [{
      file: SITE,
      find: "remaining: m.count, expires_at }",
      replace: "remaining: m.count, expires_at: null }",
    }],
  },
  {
    name: "close_keeps_budget",
    caughtBy: "14 auto-approve window",
    edits: [{
      file: SITE,
      find: `go(closed(s), remove("budget", { name: BUDGET }), audit`,
      replace: "go(closed(s), audit",
    }],
  },
  {
    name: "output_lost",
    caughtBy: "10 operations come to rest",
    edits: [{ file: SAGA, find: "outputs: { ...s.outputs, [s.step]: output },", replace: "outputs: s.outputs," }],
  },
  {
    name: "following_step_skipped",
    caughtBy: "10 operations come to rest",
    edits: [{
      file: SAGA,
      find: "? stepDone(s, plan.output, now, all)",
      replace: `? go({ ...ended(s, "succeeded", now) }, ...all)`,
    }],
  },
  {
    name: "failure_goes_on",
    caughtBy: "10 operations come to rest",
    edits: [{
      file: SAGA,
      find: `return unwindFrom({ ...s, outputs, job_id: null }, ending.reason ?? "the job failed", now);`,
      replace: "return stepDone(s, null, now);",
    }],
  },
  {
    name: "undo_skipped",
    caughtBy: "10 operations come to rest",
    edits: [{
      file: SAGA,
      find: "|| step.undo === null) continue;\n      const next",
      replace: "|| true) continue;\n      const next",
    }],
  },
  {
    name: "cancel_forgotten",
    caughtBy: "10 operations come to rest",
    edits: [{ file: SAGA, find: "runsJob && s.job_id !== null ? [cancelJob(s.job_id, reason)] : []", replace: "[]" }],
  },
  {
    name: "completion_untold",
    caughtBy: "10 operations come to rest",
    edits: [{ file: JOB, find: `ended(s, { outcome: "completed", result: m.result }),`, replace: "" }],
  },
  {
    name: "cancel_leaves_no_tombstone",
    caughtBy: "12 jobs",
    edits: [{
      file: JOB,
      find: "m.reason, tombstone: true, completed_at: now",
      replace: "m.reason, tombstone: false, completed_at: now",
    }],
  },
  {
    name: "job_claimed_by_anyone",
    caughtBy: "12 jobs",
    edits: [{
      file: JOB,
      find: "if (m.by !== s.target_cn) return refuse(NOT_YOURS);\n  const { lease_s } = m;",
      replace: "const { lease_s } = m;",
    }],
  },
  {
    name: "job_ended_by_anyone",
    caughtBy: "12 jobs",
    edits: [{
      file: JOB,
      find: `if (m.by !== s.claimed_by) return refuse(NOT_YOURS);\n  return go(\n    { ...s, state: "completed"`,
      replace: `return go(\n    { ...s, state: "completed"`,
    }],
  },
];
