import { type AnyCommand, command } from "../../framework.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { operationPath } from "../../internal/operation/text.ts";

export function abandon(): AnyCommand {
  return command(
    "abandon",
    "Roll an operation back; a running step is not interrupted",
    "0191b0a2-7c1e-7d2f-9a3b-5c6d7e8f9012",
  )
    .argument("<operation>", "operation id (opsctl operation list)")
    .action(withIo(async (io, id) => {
      const answer = await io.post<{ id: string; poked_nodes: number }>(`${operationPath(id)}/abandon`);
      io.print(
        answer,
        `Abandoned operation ${plainText(answer.id)}; steps that will not run: ${Number(answer.poked_nodes)}`,
      );
    }));
}
