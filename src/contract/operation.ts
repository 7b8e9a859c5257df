// Defines the schemas of operations. An operation is a saga as the API shows it.
import { z } from "zod";
import { Timestamp } from "./common.ts";
import { OPERATION_STATES, RESOURCE_SCOPES, STEP_STATUSES } from "./enums.ts";

/** An object that an operation refers to. */
export const Reference = z.object({ scope: z.enum(RESOURCE_SCOPES), id: z.string() });
export type Reference = z.infer<typeof Reference>;

/** An operation in a list. `stuck_reason` says what an operator must fix. */
export const OperationSummary = z.object({
  id: z.string(),
  kind: z.string().describe("The saga's name, for example node-join"),
  state: z.enum(OPERATION_STATES),
  references: z.array(Reference),
  stuck_reason: z.string().nullable(),
  error: z.string().nullable().describe("Why the operation failed or was rolled back"),
  time_created: Timestamp,
  time_done: Timestamp.nullable(),
});
export type OperationSummary = z.infer<typeof OperationSummary>;

/** One step of an operation; `index` starts at 0. Later steps use the step's `output`. */
export const OperationStep = z.object({
  index: z.number().int(),
  name: z.string(),
  kind: z.enum(["write", "job", "wait"]),
  status: z.enum(STEP_STATUSES),
  output: z.unknown(),
  error_message: z.string().nullable(),
  undo_error: z.string().nullable(),
  job_id: z.string().nullable(),
  started_at: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
});
export type OperationStep = z.infer<typeof OperationStep>;

/** An operation with its parameters and steps. */
export const OperationView = OperationSummary.extend({
  epoch: z.number().int().describe("Increases with every transition, so that late writers are refused"),
  params: z.unknown(),
  progress: z.object({
    completed_steps: z.number().int(),
    total_steps: z.number().int(),
    current_step: z.string().nullable(),
  }),
  steps: z.array(OperationStep),
});
export type OperationView = z.infer<typeof OperationView>;
