// The row of a saga. The row stores the saga's position as the name of a step, so that a new build with other steps
// finds the position.
import type { Reference } from "../../src/contract/operation.ts";
import type { StepStatus } from "../../src/contract/enums.ts";

/** The progress of one step. */
export type StepRecord = {
  readonly status: StepStatus;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly error: string | null;
  readonly undo_error: string | null;
  readonly job_id: string | null;
};

/** The end of a job or a wait. */
export type Ending =
  | { readonly outcome: "completed"; readonly result?: unknown }
  /** `result` lists the work that was done before the failure. It becomes the output of the failed step. */
  | { readonly outcome: "failed"; readonly reason?: string; readonly result?: unknown };

type SagaBase = {
  readonly id: string;
  readonly saga: string;
  readonly params: unknown;
  readonly refs: readonly Reference[];
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly steps: Readonly<Record<string, StepRecord>>;
  /** The ends of later steps whose messages arrived early, by wait id. */
  readonly early: Readonly<Record<string, Ending>>;
  /** Why the saga began to unwind. */
  readonly error: string | null;
  readonly created_at: Date;
};

/** The current step and the time of the next tick. `job_id` is the job or wait in progress. */
type Position = {
  readonly step: string;
  readonly job_id: string | null;
  readonly attempts: number;
  readonly due_at: Date;
};

export type SagaState =
  | (SagaBase & Position & { readonly state: "running" })
  | (SagaBase & Position & { readonly state: "unwinding" })
  | (SagaBase & { readonly state: "succeeded"; readonly done_at: Date })
  | (SagaBase & { readonly state: "unwound"; readonly done_at: Date })
  | (SagaBase & { readonly state: "stuck"; readonly step: string; readonly stuck_reason: string });
