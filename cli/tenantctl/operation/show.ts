import type { OperationView } from "../../../src/contract/operation.ts";
import { type AnyCommand, showCommand } from "../../framework.ts";
import { operationHelp, resolveOperation } from "../../internal/operation/find.ts";
import { operationPath, operationText } from "../../internal/operation/text.ts";
import { withIo } from "../open-io.ts";

export const OPERATION_ARGUMENT = ["<operation>", operationHelp("tenantctl")] as const;

export function show(): AnyCommand {
  return showCommand("show", "Show one operation and its steps", "0191b0a2-7c1e-7d2f-9a3b-5c6d7e8f9012")
    .argument(...OPERATION_ARGUMENT)
    .action(withIo(async (io, text) => {
      const operation = await io.get<OperationView>(operationPath(await resolveOperation(io, text)));
      io.print(operation, operationText(operation));
    }));
}
