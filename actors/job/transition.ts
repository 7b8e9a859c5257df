// Document 4, 1.8: claims, leases and ends of jobs.
import { fault } from "../../src/contract/fault.ts";
import { addMs } from "../../src/pure/instant.ts";
import { go, refuse, tell } from "../engine/decide.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";
import type { JobMessage } from "./messages.ts";
import type { JobState } from "./state.ts";

type On<S extends JobState["state"]> = At<JobState, S>;
type Msg<T extends JobMessage["type"]> = Of<JobMessage, T>;

const ENDED = "job is <STATE> already";

export const jobTable: Table<JobState, JobMessage> = {
  enqueue: {
    absent: enqueue,
    pending: "ignore",
    in_progress: "ignore",
    completed: "ignore",
    failed: "ignore",
    cancelled: "ignore",
  },
  claim: {
    absent: "missing",
    pending: claim,
    in_progress: "job is claimed already",
    completed: ENDED,
    failed: ENDED,
    cancelled: ENDED,
  },
  complete: {
    absent: "missing",
    pending: "job is not claimed",
    in_progress: complete,
    completed: ENDED,
    failed: ENDED,
    cancelled: ENDED,
  },
  fail: {
    absent: "missing",
    pending: "job is not claimed",
    in_progress: fail,
    completed: ENDED,
    failed: ENDED,
    cancelled: ENDED,
  },
  cancel: {
    absent: "ignore",
    pending: cancelPending,
    in_progress: cancelClaimed,
    // The saga is being told that it is done; whoever gave up on it must take that up first.
    completed: ENDED,
    failed: "ignore",
    cancelled: "ignore",
  },
  bury: {
    absent: "missing",
    pending: "job is not cancelled",
    in_progress: "job is not cancelled",
    completed: "ignore",
    failed: "ignore",
    cancelled: bury,
  },
  tick: {
    absent: "ignore",
    pending: "ignore",
    in_progress: expireLease,
    completed: "ignore",
    failed: "ignore",
    cancelled: "ignore",
  },
};

function enqueue(_state: null, m: Msg<"enqueue">, now: Date): Out<JobState> {
  const { id, kind, target_cn, payload, saga_id } = m;
  return go({ id, state: "pending", kind, target_cn, payload, saga_id, created_at: now });
}

function claim(s: On<"pending">, m: Msg<"claim">, now: Date): Out<JobState> {
  if (m.by !== s.target_cn) return refuse(NOT_YOURS);
  const lease_until = addMs(now, m.lease_s * 1_000);
  return go({ ...s, state: "in_progress", claimed_by: m.by, claimed_at: now, lease_until });
}

function complete(s: On<"in_progress">, m: Msg<"complete">, now: Date): Out<JobState> {
  if (m.by !== s.claimed_by) return refuse(NOT_YOURS);
  return go(
    { ...s, state: "completed", result: m.result, completed_at: now },
    ended(s, { outcome: "completed", result: m.result }),
  );
}

function fail(s: On<"in_progress">, m: Msg<"fail">, now: Date): Out<JobState> {
  if (m.by !== s.claimed_by) return refuse(NOT_YOURS);
  return go(
    { ...s, state: "failed", reason: m.reason, completed_at: now },
    ended(s, { outcome: "failed", reason: m.reason }),
  );
}

function cancelPending(s: On<"pending">, m: Msg<"cancel">, now: Date): Out<JobState> {
  return go({
    ...s,
    state: "cancelled",
    reason: m.reason,
    tombstone: false,
    claimed_by: null,
    completed_at: now,
  });
}

function cancelClaimed(s: On<"in_progress">, m: Msg<"cancel">, now: Date): Out<JobState> {
  return go({ ...s, state: "cancelled", reason: m.reason, tombstone: true, completed_at: now });
}

function bury(s: On<"cancelled">, m: Msg<"bury">): Out<JobState> {
  if (m.by !== s.claimed_by) return refuse(NOT_YOURS);
  return s.tombstone ? go({ ...s, tombstone: false }) : { out: "ignore" };
}

function expireLease(s: On<"in_progress">, _m: Msg<"tick">, now: Date): Out<JobState> {
  if (now < s.lease_until) return { out: "ignore" };
  const reason = `node ${s.claimed_by} stopped renewing the job`;
  return go({ ...s, state: "failed", reason, completed_at: now }, ended(s, { outcome: "failed", reason }));
}

type Ending = { readonly outcome: "completed"; readonly result: unknown } | {
  readonly outcome: "failed";
  readonly reason: string;
};

function ended(s: JobState, ending: Ending) {
  return tell({ kind: "saga", id: s.saga_id }, { type: "job_ended", job_id: s.id, ...ending });
}

const NOT_YOURS = fault("forbidden", "the job belongs to another node", { error_code: "Forbidden" });

export const job: Behavior<JobState, JobMessage> = {
  kind: "job",
  table: "job",
  key: "id",
  step: (s, m, now) => runTable(jobTable, s, m, now),
  deadline: (s) => (s.state === "in_progress" ? s.lease_until : null),
  view: (s) => ({ id: s.id, kind: s.kind, state: s.state, target_cn: s.target_cn, created_at: s.created_at }),
};
