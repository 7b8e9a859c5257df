import { OPERATIONS_PATH } from "../../internal/operation/text.ts";
import { OPERATION_STATES } from "../../../src/contract/enums.ts";
import { OPERATION_PAGE_ROWS_DEFAULT, OPERATION_PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import type { OperationSummary } from "../../../src/contract/operation.ts";
import { type AnyCommand, listCommand, oneOf, wholeNumber } from "../../framework.ts";
import type { Io } from "../../internal/io.ts";
import { withIo } from "../../internal/run.ts";
import { AGE_COLUMN, type Column, ID_COLUMN, STATE_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";

/** The first reference is the operation's object; `operation show` lists the others. */
const COLUMNS: readonly Column<OperationSummary>[] = [
  ["ID", (operation) => operation.id, ID_COLUMN],
  ["KIND", (operation) => operation.kind],
  ["STATE", (operation) => operation.state, STATE_COLUMN],
  ["OBJECT", ({ references: [first] }) => first && `${first.scope}:${first.id}`],
  ["AGE", (operation) => operation.time_created, AGE_COLUMN],
  ["CREATED_AT", (operation) => operation.time_created, WIDE_COLUMN],
  ["DONE_AT", (operation) => operation.time_done, WIDE_COLUMN],
];

export function list(): AnyCommand {
  return listCommand("list", "List operations, newest first", "--state stuck")
    .option("--limit <rows>", "number of operations", wholeNumber(1), OPERATION_PAGE_ROWS_DEFAULT)
    .addOption(oneOf("--state <state>", "only operations in this state", OPERATION_STATES))
    .option("--kind <kind>", "only operations of this kind, for example node-join")
    .action(withIo(async (io, { limit, state, kind }) => {
      // One more than the limit shows whether older ones exist.
      const operations = await collect(io, { state, kind }, limit + 1);
      const shown = operations.slice(0, limit);
      io.table(shown, shown, COLUMNS, "(no operations)");
      if (operations.length > limit) io.note("Older operations exist; raise --limit to see them");
    }));
}

type Filter = { readonly state?: string; readonly kind?: string };

async function collect(io: Io, filter: Filter, rows: number): Promise<OperationSummary[]> {
  const found: OperationSummary[] = [];
  for (;;) {
    const limit = Math.min(OPERATION_PAGE_ROWS_MAX, rows - found.length);
    const page = await io.get<OperationSummary[]>(OPERATIONS_PATH, {
      ...filter,
      limit,
      after_id: found.at(-1)?.id,
    });
    found.push(...page);
    if (found.length >= rows || page.length < limit) return found;
  }
}
