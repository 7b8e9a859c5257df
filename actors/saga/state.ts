// The row of a saga. The position is kept by step name, so that a new build finds it again.
import type { Reference } from "../../src/contract/operation.ts";
import type { StepStatus } from "../../src/contract/enums.ts";

/** What happened to one step so far. */
export type StepRecord = {
  readonly status: StepStatus;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly error: string | null;
  readonly undo_error: string | null;
  readonly job_id: string | null;
};

/** How a job or a wait ended. */
export type Ending =
  | { readonly outcome: "completed"; readonly result?: unknown }
  | { readonly outcome: "failed"; readonly reason?: string };

type SagaBase = {
  readonly id: string;
  readonly saga: string;
  readonly params: unknown;
  readonly refs: readonly Reference[];
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly steps: Readonly<Record<string, StepRecord>>;
  /** What was told of later steps before they were reached, by wait id. */
  readonly early: Readonly<Record<string, Ending>>;
  /** Why it began to unwind. */
  readonly error: string | null;
  readonly created_at: Date;
};

/** Where it stands, and when it wants to be woken. `job_id` is the job it waits for. */
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
