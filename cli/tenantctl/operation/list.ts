import { OPERATION_STATES } from "../../../src/contract/enums.ts";
import { OPERATION_PAGE_ROWS_DEFAULT } from "../../../src/contract/limits.ts";
import { type AnyCommand, listCommand, oneOf, wholeNumber } from "../../framework.ts";
import { newestOperations, OPERATION_COLUMNS } from "../../internal/operation/list.ts";
import { withIo } from "../open-io.ts";

export function list(): AnyCommand {
  return listCommand("list", "List the operations on the tenant's objects, newest first", "--state running")
    .option("--limit <rows>", "number of operations", wholeNumber(1), OPERATION_PAGE_ROWS_DEFAULT)
    .addOption(oneOf("--state <state>", "only operations in this state", OPERATION_STATES))
    .option("--kind <kind>", "only operations of this kind, for example instance-create")
    .action(withIo(async (io, filter) => {
      const { rows, note } = await newestOperations(io, filter);
      io.table(rows, rows, OPERATION_COLUMNS, "(no operations)");
      if (note !== null) io.note(note);
    }));
}
