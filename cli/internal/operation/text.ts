// Formats an operation as text, for opsctl and tenantctl.
import type { OperationStep, OperationView } from "../../../src/contract/operation.ts";
import { blockText, type Column, tableText } from "../table.ts";

export const OPERATIONS_PATH = "/v1/operations";

const STEP_COLUMNS: readonly Column<OperationStep>[] = [
  ["INDEX", (step) => step.index],
  ["STEP", (step) => step.name],
  ["STATUS", (step) => step.status],
  ["STARTED_AT", (step) => step.started_at],
  ["ENDED_AT", (step) => step.ended_at],
  ["JOB", (step) => step.job_id],
  ["ERROR", (step) => step.undo_error ?? step.error_message],
];

export function operationPath(id: string): string {
  return `${OPERATIONS_PATH}/${encodeURIComponent(id)}`;
}

export function operationText(operation: OperationView): string {
  const { progress } = operation;
  const block = blockText([
    ["id", operation.id],
    ["kind", operation.kind],
    ["state", operation.state],
    ["references", operation.references.map(({ scope, id }) => `${scope}:${id}`).join(",")],
    ["progress", `${progress.completed_steps} of ${progress.total_steps}`],
    ["current_step", progress.current_step],
    ["created_at", operation.time_created],
    ["done_at", operation.time_done],
    ["stuck_reason", operation.stuck_reason],
    ["error", operation.error],
  ]);
  return operation.steps.length === 0 ? block : `${block}\n\n${tableText(STEP_COLUMNS, operation.steps)}`;
}
