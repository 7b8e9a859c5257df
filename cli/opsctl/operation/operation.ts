// The description of operations. A list has summaries; `show` has the steps, too.
import { OPERATION_STATES } from "../../../src/contract/enums.ts";
import { OPERATION_PAGE_ROWS_DEFAULT, OPERATION_PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import type { OperationSummary, OperationView } from "../../../src/contract/operation.ts";
import { oneOf, wholeNumber } from "../../framework.ts";
import type { Io } from "../../internal/io.ts";
import { operationPath, OPERATIONS_PATH, operationText } from "../../internal/operation/text.ts";
import { AGE_COLUMN, ID_COLUMN, STATE_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import type { Listing, OptionText, Showing } from "../record/kind.ts";

export const OPERATION_ARGUMENT: OptionText = ["<operation>", "operation id (opsctl operation list)"];
export const OPERATION_SAMPLE = "0191b0a2-7c1e-7d2f-9a3b-5c6d7e8f9012";

type Options = { readonly limit: number; readonly state?: string; readonly kind?: string };

export const OPERATIONS: Listing<OperationSummary> = {
  many: "operations",
  summaries: { list: "List operations, newest first" },
  list_sample: "--state stuck",
  selectors: (made) =>
    made.option("--limit <rows>", "number of operations", wholeNumber(1), OPERATION_PAGE_ROWS_DEFAULT)
      .addOption(oneOf("--state <state>", "only operations in this state", OPERATION_STATES))
      .option("--kind <kind>", "only operations of this kind, for example node-join"),
  columns: [
    ["ID", (operation) => operation.id, ID_COLUMN],
    ["KIND", (operation) => operation.kind],
    ["STATE", (operation) => operation.state, STATE_COLUMN],
    // The first reference is the operation's object; `operation show` lists the others.
    ["OBJECT", ({ references: [first] }) => first && `${first.scope}:${first.id}`],
    ["AGE", (operation) => operation.time_created, AGE_COLUMN],
    ["CREATED_AT", (operation) => operation.time_created, WIDE_COLUMN],
    ["DONE_AT", (operation) => operation.time_done, WIDE_COLUMN],
  ],
  all: async (io, _, { options }) => {
    const { limit, state, kind } = options as Options;
    // One more than the limit shows whether older ones exist.
    const found = await collect(io, { state, kind }, limit + 1);
    const note = found.length > limit ? "Older operations exist; raise --limit to see them" : null;
    return { rows: found.slice(0, limit), note };
  },
  is_array: true,
  record: (operation) => operation,
};

export const OPERATION: Showing<OperationView> = {
  one: "operation",
  argument: OPERATION_ARGUMENT,
  sample: OPERATION_SAMPLE,
  summaries: { show: "Show one operation and its steps" },
  find: (io, id) => io.get<OperationView>(operationPath(id)),
  record: (operation) => operation,
  text: operationText,
};

type Filter = { readonly state: string | undefined; readonly kind: string | undefined };

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
