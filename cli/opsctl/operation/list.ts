import { OPERATIONS_PATH } from "../../internal/operation/text.ts";
import { OPERATION_PAGE_ROWS_DEFAULT, OPERATION_PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import type { OperationSummary } from "../../../src/contract/operation.ts";
import { type AnyCommand, command, wholeNumber } from "../../framework.ts";
import type { Io } from "../../internal/io.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";

/** The first reference is the operation's object; `operation show` lists the others. */
const COLUMNS: readonly Column<OperationSummary>[] = [
  ["ID", (operation) => operation.id],
  ["KIND", (operation) => operation.kind],
  ["STATE", (operation) => operation.state],
  ["OBJECT", ({ references: [first] }) => first && `${first.scope}:${first.id}`],
  ["CREATED_AT", (operation) => operation.time_created],
  ["DONE_AT", (operation) => operation.time_done],
];

export function list(): AnyCommand {
  return command("list", "List operations, newest first", "--limit 20")
    .option("--limit <rows>", "number of operations", wholeNumber(1), OPERATION_PAGE_ROWS_DEFAULT)
    .action(withIo(async (io, { limit }) => {
      // One more than the limit shows whether older ones exist.
      const operations = await collect(io, limit + 1);
      const shown = operations.slice(0, limit);
      io.table(shown, shown, COLUMNS, "(no operations)");
      if (operations.length > limit) io.note("Older operations exist; raise --limit to see them");
    }));
}

async function collect(io: Io, rows: number): Promise<OperationSummary[]> {
  const found: OperationSummary[] = [];
  for (;;) {
    const limit = Math.min(OPERATION_PAGE_ROWS_MAX, rows - found.length);
    const page = await io.get<OperationSummary[]>(OPERATIONS_PATH, { limit, after_id: found.at(-1)?.id });
    found.push(...page);
    if (found.length >= rows || page.length < limit) return found;
  }
}
