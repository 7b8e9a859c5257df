// Lists operations, for opsctl and tenantctl.
import { OPERATION_PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import type { OperationSummary } from "../../../src/contract/operation.ts";
import type { Io } from "../io.ts";
import { AGE_COLUMN, type Column, ID_COLUMN, STATE_COLUMN, WIDE_COLUMN } from "../table.ts";
import { OPERATIONS_PATH } from "./text.ts";

export type OperationFilter = {
  readonly limit: number;
  readonly state?: string | undefined;
  readonly kind?: string | undefined;
};

export const OPERATION_COLUMNS: readonly Column<OperationSummary>[] = [
  ["ID", (operation) => operation.id, ID_COLUMN],
  ["KIND", (operation) => operation.kind],
  ["STATE", (operation) => operation.state, STATE_COLUMN],
  // The first reference is the operation's object; `operation show` lists the others.
  ["OBJECT", ({ references: [first] }) => first && `${first.scope}:${first.id}`],
  ["AGE", (operation) => operation.time_created, AGE_COLUMN],
  ["CREATED_AT", (operation) => operation.time_created, WIDE_COLUMN],
  ["DONE_AT", (operation) => operation.time_done, WIDE_COLUMN],
];

/** Returns at most `limit` operations, newest first, and a note if older operations exist. */
export async function newestOperations(
  io: Io,
  { limit, state, kind }: OperationFilter,
): Promise<{ readonly rows: readonly OperationSummary[]; readonly note: string | null }> {
  // One operation more than the limit shows whether older operations exist.
  const wanted = limit + 1;
  const found: OperationSummary[] = [];
  for (;;) {
    const rows = Math.min(OPERATION_PAGE_ROWS_MAX, wanted - found.length);
    const query = { state, kind, limit: rows, after_id: found.at(-1)?.id };
    const page = await io.get<OperationSummary[]>(OPERATIONS_PATH, query);
    found.push(...page);
    if (found.length >= wanted || page.length < rows) break;
  }
  const note = found.length > limit ? "Older operations exist; raise --limit to see them" : null;
  return { rows: found.slice(0, limit), note };
}
