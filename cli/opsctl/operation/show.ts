import { operationPath, operationText } from "../../internal/operation/text.ts";
import type { OperationView } from "../../../src/contract/operation.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";

export function show(): AnyCommand {
  return command("show", "Show one operation and its steps")
    .argument("<operation>", "operation id (opsctl operation list)")
    .action(withIo(async (io, id) => {
      const operation = await io.get<OperationView>(operationPath(id));
      io.print(operation, operationText(operation));
    }));
}
