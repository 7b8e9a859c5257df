// Parts of a saga's transitions: the saga's record after a step, the context of a step, and the job of a step.
import { audit, withActor, withNewActor } from "../engine/effects.ts";
import { type Plan, stepId, waitId } from "../engine/saga.ts";
import type { At } from "../engine/table.ts";
import type { Part } from "../engine/types.ts";
import type { SagaState, StepRecord } from "./state.ts";

export type Moving = At<SagaState, "running"> | At<SagaState, "unwinding">;
type JobPlan = Extract<Plan<unknown>, { plan: "job" }>;
/** The plan of a step that ends with `job_ended`. */
export type WaitPlan = JobPlan | Extract<Plan<unknown>, { plan: "wait" }>;

export function enqueueJob(saga_id: string, id: string, plan: JobPlan): Part<SagaState> {
  const { kind, target_cn, payload } = plan;
  return withNewActor({ kind: "job", id }, { type: "enqueue", id, kind, target_cn, payload, saga_id });
}

export function contextOf(s: Moving, now: Date) {
  return {
    ...s.outputs,
    params: s.params,
    saga_id: s.id,
    now,
    error: s.error,
    told_as: toldAs(s),
    id: (label: string) => stepId(s.id, s.step, label),
  };
}

/** Returns the id of the current step's job or wait. */
export function toldAs(s: Moving): string {
  if (s.state === "running") return waitId(s.id, s.step);
  // A retried undo needs a new job id, because the failed job has ended.
  const before = s.steps[s.step];
  const failed = before?.status === "undo_failed" ? before.job_id : null;
  return stepId(s.id, s.step, failed === null ? "job:undo" : `job:undo after ${failed}`);
}

export function recorded<S extends SagaState>(s: S, step: string, change: Partial<StepRecord>): S {
  const before = s.steps[step];
  if (before === undefined) return s;
  return { ...s, steps: { ...s.steps, [step]: { ...before, ...change } } };
}

export function ended(s: Moving, state: "succeeded" | "unwound", now: Date): SagaState {
  const { step: _step, job_id: _job, attempts: _attempts, due_at: _due, ...rest } = s;
  return { ...rest, state, done_at: now };
}

export function abandoned(s: SagaState): Part<SagaState> {
  return audit("operations_abandon", `Operation::"${s.id}"`, { operation_id: s.id, kind: s.saga });
}

export function cancelJob(id: string, reason: string): Part<SagaState> {
  return withActor({ kind: "job", id }, { type: "cancel", reason });
}
