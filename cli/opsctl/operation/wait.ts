import { type AnyCommand, command, wholeNumber } from "../../framework.ts";
import { EXIT } from "../../kit/exit-code.ts";
import { Failure } from "../../kit/failure.ts";
import { plainText } from "../../kit/plain-text.ts";
import { withIo } from "../../kit/run.ts";
import { endText, follow } from "./follow.ts";

export function wait(): AnyCommand {
  return command("wait", "Wait until an operation ends; exit code 1 when it failed, 6 when the time is up")
    .argument("<operation>", "id of the operation")
    .option("--timeout <seconds>", "give up after this long; left out, wait for ever", wholeNumber(0))
    .action(withIo(async (io, id, { timeout }) => {
      const operation = await follow(io, { id, limit_ms: timeout === undefined ? Infinity : timeout * 1_000 });
      if (operation.state === "succeeded") {
        return io.print(operation, `Operation ${plainText(operation.id)} succeeded`);
      }
      if (io.json) io.print(operation, "");
      throw new Failure(endText(operation), EXIT.failure);
    }));
}
