// The states of a job: claims, leases, ends and tombstones (docs/instances.md, "Jobs").
import type { AuditAction } from "../../src/contract/audit-actions.ts";
import { conflict, fault } from "../../src/contract/fault.ts";
import { addMs } from "../../src/lib/text/instant.ts";
import { audit, go, guard, refuse, tell, withActor } from "../engine/effects.ts";
import { tellJoined } from "../engine/saga.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Message, Out, Part } from "../engine/types.ts";
import type { JobMessage } from "./messages.ts";
import type { JobState } from "./state.ts";

type On<S extends JobState["state"]> = At<JobState, S>;
type Msg<T extends JobMessage["type"]> = Of<JobMessage, T>;

const ENDED = "job is <STATE> already";
const NOT_TAKEN = "the job was not cancelled and its lease has not expired, so its node has nothing to undo";

/** 403: the node is not approved. */
export const NODE_NOT_APPROVED = fault("forbidden", "only an approved node can take jobs", { error_code: "Forbidden" });

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
    pending: notClaimed,
    in_progress: complete,
    completed: endedAlready,
    failed: endedAlready,
    cancelled: endedAlready,
  },
  fail: {
    absent: "missing",
    pending: notClaimed,
    in_progress: fail,
    completed: endedAlready,
    failed: endedAlready,
    cancelled: endedAlready,
  },
  cancel: {
    absent: "ignore",
    pending: cancelPending,
    in_progress: cancelClaimed,
    // The saga must first handle the job's `job_ended`, which is on its way.
    completed: ENDED,
    failed: "ignore",
    cancelled: "ignore",
  },
  bury: {
    absent: "missing",
    pending: notTaken,
    in_progress: notTaken,
    completed: nothingLeft,
    failed: bury,
    cancelled: bury,
  },
  await_burial: {
    absent: nothingToBury,
    pending: NOT_TAKEN,
    in_progress: NOT_TAKEN,
    completed: nothingToBury,
    failed: awaitBurial,
    cancelled: awaitBurial,
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
  const { id, kind, target_cn, saga_id } = m;
  const payload = m.payload as JobState["payload"];
  return go({ id, state: "pending", kind, target_cn, payload, saga_id, created_at: now });
}

function claim(s: On<"pending">, m: Msg<"claim">, now: Date): Out<JobState> {
  if (m.by !== s.target_cn) return refuse(NOT_YOURS);
  const { lease_s } = m;
  const lease_until = addMs(now, lease_s * 1_000);
  return go(
    { ...s, state: "in_progress", claimed_by: m.by, claimed_at: now, lease_s, lease_until },
    guard("cn_is_approved", { server_uuid: m.by }, NODE_NOT_APPROVED),
    ...claimedFrom(s),
    noted(s, "agent_claim"),
  );
}

function complete(s: On<"in_progress">, m: Msg<"complete">, now: Date): Out<JobState> {
  if (m.by !== s.claimed_by) return refuse(NOT_YOURS);
  return go(
    { ...s, state: "completed", result: m.result, completed_at: now },
    ended(s, { outcome: "completed", result: m.result }),
    noted(s, "agent_complete", { outcome: "completed" }),
  );
}

/** Ends the job as failed. Before a node reports a failure, it undoes what it did for the job. */
function fail(s: On<"in_progress">, m: Msg<"fail">, now: Date): Out<JobState> {
  if (m.by !== s.claimed_by) return refuse(NOT_YOURS);
  return go(
    {
      ...s,
      state: "failed",
      reason: m.reason,
      tombstone: false,
      completed_at: now,
      ...(m.detail !== null && { result: { detail: m.detail } }),
    },
    ended(s, { outcome: "failed", reason: m.reason }),
    noted(s, "agent_complete", { outcome: "failed", reason: m.reason }),
  );
}

// A node gets the same answer about every job of another node, whatever the state of the job (docs/reliability.md,
// S-13).

function notClaimed(s: JobState, m: Msg<"complete"> | Msg<"fail">): Out<JobState> {
  return refuse(m.by === s.target_cn ? conflict("job is not claimed") : NOT_YOURS);
}

function endedAlready(s: JobState, m: Msg<"complete"> | Msg<"fail">): Out<JobState> {
  return refuse(m.by === s.target_cn ? conflict(ENDED.replace("<STATE>", s.state)) : NOT_YOURS);
}

function notTaken(s: JobState, m: Msg<"bury">): Out<JobState> {
  return refuse(m.by === s.target_cn ? conflict(NOT_TAKEN) : NOT_YOURS);
}

function nothingLeft(s: JobState, m: Msg<"bury">): Out<JobState> {
  return m.by === s.target_cn ? { out: "ignore" } : refuse(NOT_YOURS);
}

function cancelPending(s: On<"pending">, m: Msg<"cancel">, now: Date): Out<JobState> {
  return go({ ...s, state: "cancelled", reason: m.reason, tombstone: false, claimed_by: null, completed_at: now });
}

function cancelClaimed(s: On<"in_progress">, m: Msg<"cancel">, now: Date): Out<JobState> {
  return go({ ...s, state: "cancelled", reason: m.reason, tombstone: true, completed_at: now });
}

function bury(s: On<"failed"> | On<"cancelled">, m: Msg<"bury">): Out<JobState> {
  if (m.by !== s.target_cn) return refuse(NOT_YOURS);
  if (!s.tombstone) return { out: "ignore" };
  const told_as = s.burial_told_as ?? null;
  const tells = told_as === null ? [] : [buried({ saga_id: s.saga_id, told_as })];
  return go({ ...s, tombstone: false }, ...tells, noted(s, "agent_bury"));
}

function awaitBurial(s: On<"failed"> | On<"cancelled">, m: Msg<"await_burial">): Out<JobState> {
  return s.tombstone ? go({ ...s, burial_told_as: m.told_as }) : go(s, buried(m));
}

/**
 * Sends the saga `job_ended` at once, because the job's node has nothing to undo. A job without a record was never
 * sent. The effects of a completed job are undone by another job.
 */
function nothingToBury(s: JobState | null, m: Msg<"await_burial">): Out<JobState> {
  return go(s, buried(m));
}

function buried({ saga_id, told_as }: { readonly saga_id: string; readonly told_as: string }) {
  return tell({ kind: "saga", id: saga_id }, { type: "job_ended", job_id: told_as, outcome: "completed" });
}

/**
 * Fails the job when its lease has expired. Heartbeats are in another table, so the tick first applies the last
 * heartbeat.
 */
function expireLease(s: On<"in_progress">, _m: Msg<"tick">, now: Date): Out<JobState> {
  if (now < s.lease_until) return { out: "ignore" };
  const renewed_until = s.renewed_at ? addMs(s.renewed_at, s.lease_s * 1_000) : s.lease_until;
  if (now < renewed_until) return go({ ...s, lease_until: renewed_until });
  const reason = `node ${s.claimed_by} stopped renewing the job`;
  return go(
    { ...s, state: "failed", reason, tombstone: true, completed_at: now },
    ended(s, { outcome: "failed", reason }),
    noted(s, "job_expire", { outcome: "failed_swept", reason }),
  );
}

type Ending = { readonly outcome: "completed"; readonly result: unknown } | {
  readonly outcome: "failed";
  readonly reason: string;
};

/** Sends `job_ended` to the saga. If possible, the saga's next step joins the commit that ends the job. */
function ended(s: JobState, ending: Ending) {
  return tellJoined({ kind: "saga", id: s.saga_id }, { type: "job_ended", job_id: s.id, ...ending });
}

/** Sends `job_claimed` to the job's instance, if it has one, in the same commit. */
function claimedFrom(s: JobState): Part<JobState>[] {
  const { instance_id } = s.payload;
  if (typeof instance_id !== "string") return [];
  const message: Message = { type: "job_claimed", job_id: s.id, job_kind: s.kind };
  return [withActor({ kind: "instance", id: instance_id }, message)];
}

function noted(s: JobState, action: AuditAction, more: object = {}): Part<JobState> {
  const { id, kind, target_cn, saga_id } = s;
  return audit(action, `Job::"${id}"`, { kind, target_cn, operation_id: saga_id, ...more });
}

const NOT_YOURS = fault("forbidden", "the job belongs to another node", { error_code: "Forbidden" });

export const job: Behavior<JobState, JobMessage> = {
  kind: "job",
  table: "job",
  from: "job_loaded",
  key: "id",
  step: (s, m, now) => runTable(jobTable, s, m, now),
  deadline: (s) => (s.state === "in_progress" ? s.lease_until : null),
  view: (s) => ({ id: s.id, kind: s.kind, state: s.state, target_cn: s.target_cn, created_at: s.created_at }),
};
