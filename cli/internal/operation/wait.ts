// The verb `wait` of both command lines.
import { wholeNumber } from "../../framework.ts";
import { EXIT } from "../exit-code.ts";
import { Failure } from "../failure.ts";
import type { Io } from "../io.ts";
import { plainText } from "../plain-text.ts";
import { endText, follow } from "./follow.ts";

export const WAIT_SUMMARY = "Wait until an operation ends; exit code 1 when it failed, 6 when the time is up";

export const TIMEOUT_OPTION = [
  "--timeout <seconds>",
  "give up after this long; left out, wait for ever",
  wholeNumber(0),
] as const;

/** Waits for the end of an operation and says it. Throws a Failure when it is none that was asked for. */
export async function printEnd(io: Io, id: string, timeout_s: number | undefined): Promise<void> {
  const operation = await follow(io, { id, limit_ms: timeout_s === undefined ? Infinity : timeout_s * 1_000 });
  if (operation.state === "succeeded") {
    return io.print(operation, `Operation ${plainText(operation.id)} succeeded`);
  }
  if (io.json) io.print(operation, "");
  throw new Failure(endText(operation), EXIT.failure);
}
