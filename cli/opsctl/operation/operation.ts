// Defines how commands list and print operations. A list contains summaries; `show` also prints the steps.
import { OPERATION_STATES } from "../../../src/contract/enums.ts";
import { OPERATION_PAGE_ROWS_DEFAULT } from "../../../src/contract/limits.ts";
import type { OperationSummary, OperationView } from "../../../src/contract/operation.ts";
import { oneOf, wholeNumber } from "../../framework.ts";
import { operationHelp, resolveOperation } from "../../internal/operation/find.ts";
import { newestOperations, OPERATION_COLUMNS, type OperationFilter } from "../../internal/operation/list.ts";
import { operationPath, operationText } from "../../internal/operation/text.ts";
import type { Listing, OptionText, Showing } from "../record/kind.ts";

export const OPERATION_ARGUMENT: OptionText = ["<operation>", operationHelp("opsctl")];
export const OPERATION_SAMPLE = "0191b0a2-7c1e-7d2f-9a3b-5c6d7e8f9012";

export const OPERATIONS: Listing<OperationSummary> = {
  many: "operations",
  summaries: { list: "List operations, newest first" },
  list_sample: "--state stuck",
  selectors: (made) =>
    made.option("--limit <rows>", "number of operations", wholeNumber(1), OPERATION_PAGE_ROWS_DEFAULT)
      .addOption(oneOf("--state <state>", "only operations in this state", OPERATION_STATES))
      .option("--kind <kind>", "only operations of this kind, for example node-join"),
  columns: OPERATION_COLUMNS,
  all: (io, _, { options }) => newestOperations(io, options as OperationFilter),
  is_array: true,
  record: (operation) => operation,
};

export const OPERATION: Showing<OperationView> = {
  one: "operation",
  argument: OPERATION_ARGUMENT,
  sample: OPERATION_SAMPLE,
  summaries: { show: "Show one operation and its steps" },
  find: async (io, text) => await io.get<OperationView>(operationPath(await resolveOperation(io, text))),
  record: (operation) => operation,
  text: operationText,
};
