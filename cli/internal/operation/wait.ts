// Defines the help, the option and the action of the verb `operation wait`, which opsctl and tenantctl share.
import { EXIT } from "../exit-code.ts";
import { Failure } from "../failure.ts";
import type { Io } from "../io.ts";
import { plainText } from "../plain-text.ts";
import { secondsOf } from "../time-text.ts";
import { resolveOperation } from "./find.ts";
import { endText, follow } from "./follow.ts";

export const WAIT_SUMMARY = "Wait until an operation ends; exit code 1 if it failed, 6 if the time is up";

export const TIMEOUT_OPTION = [
  "--timeout <seconds>",
  "seconds, or a duration such as 10m, after which to stop waiting; by default wait without a limit",
  secondsOf(0),
] as const;

/**
 * Waits for the end of an operation and prints the operation. An operation that did not succeed is printed only in the
 * formats for programs, and a Failure is thrown.
 */
export async function printEnd(io: Io, text: string, timeout_s: number | undefined): Promise<void> {
  const id = await resolveOperation(io, text);
  const operation = await follow(io, { id, limit_ms: timeout_s === undefined ? Infinity : timeout_s * 1_000 });
  if (operation.state === "succeeded") {
    return io.print(operation, `Operation ${plainText(operation.id)} succeeded`);
  }
  if (io.json) io.print(operation, "");
  throw new Failure(endText(operation), EXIT.failure);
}
