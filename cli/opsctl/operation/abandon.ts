import type { OperationView } from "../../../src/contract/operation.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { resolveOperation } from "../../internal/operation/find.ts";
import { operationPath } from "../../internal/operation/text.ts";
import { OPERATION_ARGUMENT, OPERATION_SAMPLE } from "./operation.ts";

export function abandon(): AnyCommand {
  return command(
    "abandon",
    "Cancel the current step of an operation and undo the earlier steps, or repeat an undo that failed",
    OPERATION_SAMPLE,
  )
    .argument(...OPERATION_ARGUMENT)
    .action(withIo(async (io, text) => {
      const id = await resolveOperation(io, text);
      const answer = await io.post<OperationView>(`${operationPath(id)}/abandon`);
      io.print(answer, `Abandoned operation ${plainText(answer.id)}; it is now ${plainText(answer.state)}`);
    }));
}
