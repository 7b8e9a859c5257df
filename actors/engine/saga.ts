// A saga is a list of named steps. Each step has a function `do` and can have a function `undo`. A step gets the typed
// outputs of the steps before it. A `write` step commits with the saga's own row, so it happens exactly once. A `job`
// step commits its job the same way, then waits until the node reports the end or the time limit passes. A `wait` step
// waits for another actor to report its result.
import { createHash } from "node:crypto";
import type { ActorRef, Json, Message, Part, Tell } from "./types.ts";

/** The parts that a step may commit with the saga's row: conditions, other actors, children, tells. */
export type StepPart = Exclude<Part<never>, { part: "otherwise" | "reply" }>;

/** The decision of a step. */
export type Plan<Output> =
  | { readonly plan: "write"; readonly output: Output; readonly parts: readonly StepPart[] }
  | {
    readonly plan: "job";
    readonly kind: string;
    readonly target_cn: string;
    readonly payload: Json;
    /** The step fails if the job has not ended after this time. */
    readonly limit_ms: number;
    readonly parts: readonly StepPart[];
  }
  | { readonly plan: "wait"; readonly limit_ms: number; readonly parts: readonly StepPart[] };

/** Commits `parts` with the step and passes `output` to the later steps. */
export function write<Output>(output: Output, ...parts: readonly StepPart[]): Plan<Output> {
  return { plan: "write", output, parts };
}

/** Like tell (effects.ts), but the receiver's decision joins this commit if it cannot fail (see Tell). */
export function tellJoined(to: ActorRef, message: Message): Tell {
  return { part: "tell", to, message, joins: true };
}

/** A job for a node. The step fails if the job has not ended after `limit_ms`. */
export type JobPlan = {
  readonly kind: string;
  readonly target_cn: string;
  readonly payload: Json;
  readonly limit_ms: number;
};

/** Enqueues a job for one node and waits for its end. The step's output is the job's result. */
export function job<Output = Json>(work: JobPlan, ...parts: readonly StepPart[]): Plan<Output> {
  return { plan: "job", ...work, parts };
}

/**
 * Waits for a `job_ended` message with the id waitId(saga_id, step), which another actor sends to this saga. The
 * message may arrive before the saga reaches the step. The result in the message is the step's output.
 */
export function wait<Output = Json>(limit_ms: number, ...parts: readonly StepPart[]): Plan<Output> {
  return { plan: "wait", limit_ms, parts };
}

/** The input of a step. `id(label)` is the same on every run of the step, so a repeated step uses the same ids. */
export type StepContext<Params, Outputs> = Outputs & {
  readonly params: Params;
  readonly saga_id: string;
  readonly now: Date;
  /** Why the saga unwinds; null while it runs forward. */
  readonly error: string | null;
  /** The id of this run's job or wait. The message `job_ended` has this id. */
  readonly told_as: string;
  readonly id: (label: string) => string;
};

/** A step without its types, as the saga actor runs it. */
export type StepDefinition = {
  readonly name: string;
  readonly kind: "write" | "job" | "wait";
  /** Whether the step commits together with the start of the saga or with the end of the step before it. */
  readonly follows: boolean;
  // deno-lint-ignore no-explicit-any -- the builder below checks the types; a list cannot hold them
  readonly do: (context: any) => Plan<any>;
  // deno-lint-ignore no-explicit-any -- as above
  readonly undo: ((context: any) => Plan<any>) | null;
};

/** The definition of a saga. Its name is stored with every operation of its kind. */
export type SagaDefinition<Params = Json> = {
  readonly name: string;
  readonly steps: readonly StepDefinition[];
  /** Never called; it carries the type of the parameters. */
  readonly params?: (params: Params) => void;
};

type Builder<Params, Outputs> = SagaDefinition<Params> & {
  /**
   * Adds a step. If a later step fails or the saga is abandoned, the `undo` functions of the finished steps run in
   * reverse order. Set `follows` if no actor can refuse the step. The step then commits together with the start of the
   * saga or the end of the step before it, which saves a commit and a tick. A `wait` step, and a step with a condition,
   * get a commit of their own in any case.
   */
  step<Name extends string, Output>(
    name: Name,
    step: {
      readonly kind?: "write" | "job" | "wait";
      readonly follows?: boolean;
      readonly do: (context: StepContext<Params, Outputs>) => Plan<Output>;
      readonly undo?: (
        context: StepContext<Params, Outputs & { readonly [K in Name]: Output }>,
      ) => Plan<unknown>;
    },
  ): Builder<Params, Outputs & { readonly [K in Name]: Output }>;
};

/** Starts the definition of a saga. Step names are stored, so a name must keep its meaning between releases. */
export function saga<Params>(name: string): Builder<Params, Record<never, never>> {
  return build<Params, Record<never, never>>(name, []);
}

function build<Params, Outputs>(name: string, steps: readonly StepDefinition[]): Builder<Params, Outputs> {
  return {
    name,
    steps,
    step(stepName, step) {
      if (steps.some((each) => each.name === stepName)) throw new Error(`saga ${name} has two steps ${stepName}`);
      const { kind = "write", follows = false, undo = null } = step;
      const next = { name: stepName, kind, follows, do: step.do, undo };
      return build(name, [...steps, next]);
    },
  };
}

/** Returns a UUID (version 8, SHA-256) that depends only on the saga, the step and the label. */
export function stepId(saga_id: string, step: string, label: string): string {
  const hex = createHash("sha256").update(`${saga_id}\0${step}\0${label}`).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)]
    .join("-");
}

/** Returns the id under which a `wait` step gets its result, or the id of the job of a `job` step. */
export function waitId(saga_id: string, step: string): string {
  return stepId(saga_id, step, "job:do");
}
