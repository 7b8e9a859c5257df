// The transitions of a saga. A saga runs forward step by step, and unwinds after a failure. It becomes stuck if an undo
// fails too often, or if the job or the wait of an undo fails once. Each tick is one unit: the step's writes commit
// with the saga's row or not at all. A step with `follows` (actors/engine/saga.ts) needs no tick of its own.
import { conflict } from "../../src/contract/fault.ts";
import { go, refuse, reply } from "../engine/effects.ts";
import { type SagaDefinition, type StepDefinition, type StepPart, waitId } from "../engine/saga.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out, Part } from "../engine/types.ts";
import { addMs } from "../../src/lib/text/instant.ts";
import type { SagaMessage } from "./messages.ts";
import {
  abandoned,
  cancelJob,
  contextOf,
  ended,
  enqueueJob,
  type Moving,
  recorded,
  toldAs,
  type WaitPlan,
} from "./parts.ts";
import type { Ending, SagaState, StepRecord } from "./state.ts";

/**
 * The number of attempts of an undo after which the saga becomes stuck, and the first delay, which doubles with each
 * attempt. Only an undo without a job and without a wait is repeated.
 */
export const UNDO_TRIES_MAX = 5;
const UNDO_RETRY_MS = 1_000;
/** The conditions that can refuse the whole commit. */
const CONDITIONS: ReadonlySet<string> = new Set(["guard", "take", "allocate"]);

type On<S extends SagaState["state"]> = At<SagaState, S>;
type Msg<T extends SagaMessage["type"]> = Of<SagaMessage, T>;

/** Creates the behavior of sagas, with the definitions of this build. */
export function sagaBehavior(definitions: readonly SagaDefinition<never>[]): Behavior<SagaState, SagaMessage> {
  const table = sagaTable(definitions);
  return {
    kind: "saga",
    table: "saga",
    key: "id",
    step: (s, m, now) => runTable(table, s, m, now),
    deadline: (s) => (s.state === "running" || s.state === "unwinding" ? s.due_at : null),
    view: (s) => ({ id: s.id, kind: s.saga, state: s.state }),
  };
}

/** Creates the transition table, with the definitions of this build. */
export function sagaTable(definitions: readonly SagaDefinition<never>[]): Table<SagaState, SagaMessage> {
  const known = new Map(definitions.map((definition) => [definition.name, definition]));

  function stepsOf(s: { readonly saga: string }): readonly StepDefinition[] {
    return known.get(s.saga)?.steps ?? [];
  }

  function isKnown(s: Moving): boolean {
    return stepsOf(s).some((step) => step.name === s.step);
  }

  /** The error for an unknown step. It is thrown, so the tell stays in the outbox for a build that knows the step. */
  function unknownStep(s: Moving): Error {
    return new Error(`this build does not know step ${s.step} of saga ${s.saga}`);
  }

  function start(_s: null, m: Msg<"start">, now: Date): Out<SagaState> {
    const steps = known.get(m.saga)?.steps;
    const done = m.done ?? {};
    const first = steps?.find((step) => !Object.hasOwn(done, step.name));
    if (steps === undefined || first === undefined) {
      throw new Error(`saga ${m.saga} is unknown, or all of its steps are done already`);
    }
    const blank: StepRecord = {
      status: "pending",
      started_at: null,
      ended_at: null,
      error: null,
      undo_error: null,
      job_id: null,
    };
    const at = now.toISOString();
    const committed: StepRecord = { ...blank, status: "succeeded", started_at: at, ended_at: at };
    const begun: On<"running"> = {
      id: m.id,
      saga: m.saga,
      state: "running",
      params: m.params,
      refs: m.references,
      outputs: done,
      steps: Object.fromEntries(steps.map(({ name }) => [name, Object.hasOwn(done, name) ? committed : blank])),
      early: {},
      error: null,
      created_at: now,
      step: first.name,
      job_id: null,
      attempts: 0,
      due_at: now,
    };
    const out = arriveAt(begun, now);
    return m.reply === undefined || out.out !== "go" ? out : { ...out, parts: [...out.parts, reply(m.reply)] };
  }

  /**
   * Stores the saga's current step in the commit of `parts`. If the step has `follows` set, the same commit also runs
   * the step. Two kinds of steps always wait for the next tick. A step with a condition waits, because its refusal must
   * unwind the saga and must not refuse `parts`. A `wait` step waits, because only the tick checks whether the end of
   * the wait has already arrived.
   */
  function arriveAt(s: On<"running">, now: Date, parts: readonly StepPart[] = []): Out<SagaState> {
    const step = stepsOf(s).find((each) => each.name === s.step);
    if (step?.follows !== true) return go(s, ...parts);
    const plan = step.do(contextOf(s, now));
    if (plan.plan === "wait" || plan.parts.some((part) => CONDITIONS.has(part.part))) return go(s, ...parts);
    const all = [...parts, ...plan.parts];
    return plan.plan === "write" ? stepDone(s, plan.output, now, all) : waitForEnd(s, { ...plan, parts: all }, now);
  }

  function forward(s: On<"running">, _m: Msg<"tick">, now: Date): Out<SagaState> {
    const step = stepsOf(s).find((each) => each.name === s.step);
    // An unknown step waits for a build that knows it.
    if (step === undefined || now < s.due_at) return { out: "ignore" };
    if (s.job_id !== null) return unwindFrom(s, `step ${s.step} got no report within its time limit`, now);
    const plan = step.do(contextOf(s, now));
    if (plan.plan === "write") return stepDone(s, plan.output, now, plan.parts);
    const early = s.early[waitId(s.id, s.step)];
    if (plan.plan === "wait" && early !== undefined) return endForward(s, early, now);
    return waitForEnd(s, plan, now);
  }

  function stepDone(s: On<"running">, output: unknown, now: Date, parts: readonly StepPart[] = []): Out<SagaState> {
    const steps = stepsOf(s);
    const index = steps.findIndex((each) => each.name === s.step);
    const next = steps[index + 1];
    const record = {
      status: "succeeded",
      started_at: s.steps[s.step]?.started_at ?? now.toISOString(),
      ended_at: now.toISOString(),
    } as const;
    const after = {
      ...recorded(s, s.step, record),
      outputs: { ...s.outputs, [s.step]: output },
    };
    if (next === undefined) return go(ended(after, "succeeded", now), ...parts);
    return arriveAt(
      { ...after, state: "running", step: next.name, job_id: null, attempts: 0, due_at: now },
      now,
      parts,
    );
  }

  function waitForEnd<S extends Moving>(s: S, plan: WaitPlan, now: Date): Out<SagaState> {
    const id = toldAs(s);
    const status = s.state === "running" ? "running" : "undo_running";
    const waiting = recorded(s, s.step, { status, started_at: now.toISOString(), job_id: id });
    const parts = plan.plan === "job" ? [enqueueJob(s.id, id, plan), ...plan.parts] : plan.parts;
    return go({ ...waiting, job_id: id, due_at: addMs(now, plan.limit_ms) }, ...parts);
  }

  function jobEndedForward(s: On<"running">, m: Msg<"job_ended">, now: Date): Out<SagaState> {
    if (!isKnown(s)) throw unknownStep(s);
    if (m.job_id === s.job_id) return endForward(s, m, now);
    const later = stepsOf(s).slice(stepsOf(s).findIndex((step) => step.name === s.step));
    if (!later.some((step) => step.kind === "wait" && waitId(s.id, step.name) === m.job_id)) return { out: "ignore" };
    const { type: _type, job_id, ...ending } = m;
    return go({ ...s, early: { ...s.early, [job_id]: ending } });
  }

  function endForward(s: On<"running">, ending: Ending, now: Date): Out<SagaState> {
    if (ending.outcome === "completed") return stepDone(s, ending.result ?? null, now);
    const outputs = ending.result === undefined ? s.outputs : { ...s.outputs, [s.step]: ending.result };
    return unwindFrom({ ...s, outputs, job_id: null }, ending.reason ?? "the job failed", now);
  }

  function refusedForward(s: On<"running">, m: Msg<"step_refused">, now: Date): Out<SagaState> {
    return m.step === s.step && s.job_id === null ? unwindFrom(s, m.reason, now) : { out: "ignore" };
  }

  function abandon(s: On<"running">, _m: Msg<"abandon">, now: Date): Out<SagaState> {
    if (!isKnown(s)) return refuse(conflict(OF_ANOTHER_BUILD));
    return unwindFrom(s, "abandoned by an operator", now, [abandoned(s)]);
  }

  /** Starts to unwind at the current step, and cancels its job, if any, in the same unit. */
  function unwindFrom(
    s: On<"running">,
    reason: string,
    now: Date,
    more: readonly Part<SagaState>[] = [],
  ): Out<SagaState> {
    const failed = recorded(s, s.step, { status: "failed", error: reason, ended_at: now.toISOString() });
    const runsJob = stepsOf(s).find((step) => step.name === s.step)?.kind === "job";
    const parts: Part<SagaState>[] = runsJob && s.job_id !== null ? [cancelJob(s.job_id, reason)] : [];
    return backFrom({ ...failed, error: reason }, now, [...parts, ...more]);
  }

  /** Moves to the nearest earlier step with an undo, or ends the saga. */
  function backFrom(s: Moving, now: Date, parts: readonly Part<SagaState>[] = []): Out<SagaState> {
    const steps = stepsOf(s);
    const here = steps.findIndex((each) => each.name === s.step);
    for (let index = here - 1; index >= 0; index -= 1) {
      const step = steps[index];
      if (step === undefined || s.steps[step.name]?.status !== "succeeded" || step.undo === null) continue;
      const next = { ...s, state: "unwinding", step: step.name, job_id: null, attempts: 0, due_at: now } as const;
      return go(next, ...parts);
    }
    return go(ended(s, "unwound", now), ...parts);
  }

  function backward(s: On<"unwinding">, _m: Msg<"tick">, now: Date): Out<SagaState> {
    const step = stepsOf(s).find((each) => each.name === s.step);
    if (step === undefined || step.undo === null || now < s.due_at) return { out: "ignore" };
    if (s.job_id !== null) {
      return undoFailed(s, "the undo got no report within its time limit", now, [cancelJob(s.job_id, "limit passed")]);
    }
    const plan = step.undo(contextOf(s, now));
    return plan.plan === "write" ? undone(s, now, plan.parts) : waitForEnd(s, plan, now);
  }

  function undone(s: On<"unwinding">, now: Date, parts: readonly StepPart[] = []): Out<SagaState> {
    return backFrom(recorded(s, s.step, { status: "undone", ended_at: now.toISOString() }), now, parts);
  }

  function jobEndedBackward(s: On<"unwinding">, m: Msg<"job_ended">, now: Date): Out<SagaState> {
    if (m.job_id !== s.job_id) return { out: "ignore" };
    if (!isKnown(s)) throw unknownStep(s);
    return m.outcome === "completed" ? undone(s, now) : undoFailed(s, m.reason ?? "the job failed", now);
  }

  function refusedBackward(s: On<"unwinding">, m: Msg<"step_refused">, now: Date): Out<SagaState> {
    return m.step === s.step && s.job_id === null ? undoFailed(s, m.reason, now) : { out: "ignore" };
  }

  function undoFailed(
    s: On<"unwinding">,
    reason: string,
    now: Date,
    parts: readonly Part<SagaState>[] = [],
  ): Out<SagaState> {
    const attempts = s.attempts + 1;
    const noted = recorded(s, s.step, { status: "undo_failed", undo_error: reason });
    // A failed job is not repeated, because a node may have done part of it.
    if (attempts < UNDO_TRIES_MAX && s.job_id === null) {
      return go({ ...noted, attempts, due_at: addMs(now, UNDO_RETRY_MS * 2 ** (attempts - 1)) }, ...parts);
    }
    const { job_id: _job, attempts: _attempts, due_at: _due, ...rest } = noted;
    return go({ ...rest, state: "stuck", stuck_reason: `undo of step ${s.step}: ${reason}` }, ...parts);
  }

  /** Retries the undo in which the saga is stuck, after an operator fixed the cause. */
  function unstick(s: On<"stuck">, _m: Msg<"abandon">, now: Date): Out<SagaState> {
    const { stuck_reason: _reason, ...rest } = s;
    return go({ ...rest, state: "unwinding", job_id: null, attempts: 0, due_at: now }, abandoned(s));
  }

  const over = "the operation has already ended (<STATE>)";
  return {
    start: {
      absent: start,
      running: "ignore",
      unwinding: "ignore",
      succeeded: "ignore",
      unwound: "ignore",
      stuck: "ignore",
    },
    tick: {
      absent: "ignore",
      running: forward,
      unwinding: backward,
      succeeded: "ignore",
      unwound: "ignore",
      stuck: "ignore",
    },
    step_refused: {
      absent: "ignore",
      running: refusedForward,
      unwinding: refusedBackward,
      succeeded: "ignore",
      unwound: "ignore",
      stuck: "ignore",
    },
    job_ended: {
      absent: "ignore",
      running: jobEndedForward,
      unwinding: jobEndedBackward,
      succeeded: "ignore",
      unwound: "ignore",
      stuck: "ignore",
    },
    abandon: {
      absent: "missing",
      running: abandon,
      unwinding: "the operation is already being rolled back",
      succeeded: over,
      unwound: over,
      stuck: unstick,
    },
  };
}

const OF_ANOTHER_BUILD = "another version of the server started the operation, and only that version can undo it";
