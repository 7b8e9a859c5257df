import type { OperationState } from "../../../src/contract/enums.ts";
import { OPERATION_WAIT_S_MAX } from "../../../src/contract/limits.ts";
import type { OperationView } from "../../../src/contract/operation.ts";
import { type AnyCommand, command, wholeNumber } from "../../framework.ts";
import { pause } from "../../kit/api.ts";
import { EXIT } from "../../kit/exit-code.ts";
import { Failure } from "../../kit/failure.ts";
import type { Io } from "../../kit/io.ts";
import { plainText } from "../../kit/plain-text.ts";
import { withIo } from "../../kit/run.ts";
import { operationPath } from "./show.ts";

/** A server that does not hold must not be asked in a tight loop. */
const PERIOD_MS_MIN = 1_000;
/** Beyond the hold, what an answer may take on the way. */
const ANSWER_SLACK_MS = 15_000;

export function wait(): AnyCommand {
  return command("wait", "Wait until an operation ends; exit code 1 when it failed, 6 when the time is up")
    .argument("<operation>", "id of the operation")
    .option("--timeout <seconds>", "give up after this long; left out, wait for ever", wholeNumber(0))
    .action(withIo(async (io, id, { timeout }) => {
      const operation = await waitFor(io, id, timeout === undefined ? Infinity : timeout * 1_000);
      if (operation.state === "succeeded") {
        return io.print(operation, `Operation ${plainText(operation.id)} succeeded`);
      }
      if (io.json) io.print(operation, "");
      const why = operation.error ?? operation.stuck_reason;
      const message = `operation ${operation.id} ended as ${operation.state}${why === null ? "" : `: ${why}`}`;
      throw new Failure(message, EXIT.failure);
    }));
}

async function waitFor(io: Io, id: string, limit_ms: number): Promise<OperationView> {
  const { world } = io;
  const end_ms = world.monotonicMs() + limit_ms;
  for (;;) {
    const asked_ms = world.monotonicMs();
    const hold_s = Math.max(0, Math.min(OPERATION_WAIT_S_MAX, Math.floor((end_ms - asked_ms) / 1_000)));
    const operation = await io.send<OperationView>({
      method: "GET",
      path: operationPath(id),
      query: { wait: hold_s },
      limit_ms: hold_s * 1_000 + ANSWER_SLACK_MS,
    });
    if (isOver(operation.state)) return operation;
    showProgress(io, operation);
    const now_ms = world.monotonicMs();
    if (now_ms >= end_ms) {
      throw new Failure(`operation ${id} is still ${operation.state} after ${limit_ms / 1_000} s`, EXIT.wait_timeout);
    }
    await pause(world, Math.max(0, Math.min(asked_ms + PERIOD_MS_MIN - now_ms, end_ms - now_ms)));
  }
}

/** Stuck counts as over: it moves again only when an operator acts. */
function isOver(state: OperationState): boolean {
  switch (state) {
    case "succeeded":
    case "failed":
    case "unwound":
    case "stuck":
      return true;
    case "pending":
    case "running":
    case "unwinding":
      return false;
  }
}

function showProgress(io: Io, { state, progress }: OperationView): void {
  const { stderr } = io.world;
  if (!stderr.isTTY || io.json) return;
  const step = progress.current_step === null ? "" : `, ${plainText(progress.current_step)}`;
  stderr.write(`\r\u001b[K${state}: ${progress.completed_steps} of ${progress.total_steps} steps${step}\r`);
}
