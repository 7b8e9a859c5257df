// Waits for the end of an operation by long polls, and shows progress.
import type { OperationState } from "../../../src/contract/enums.ts";
import { OPERATION_WAIT_S_MAX } from "../../../src/contract/limits.ts";
import type { OperationView } from "../../../src/contract/operation.ts";
import { pause } from "../api.ts";
import { EXIT } from "../exit-code.ts";
import { Failure } from "../failure.ts";
import type { Io } from "../io.ts";
import { statusLine } from "../status-line.ts";
import { notingInterrupt } from "./on-interrupt.ts";
import { operationPath } from "./text.ts";

export type Follow = {
  readonly id: string;
  /** The time limit of the wait; Infinity for no limit. */
  readonly limit_ms: number;
  /**
   * Maximum duration of one long poll. Set it if `progressOf` reads another record, because a change of that record
   * does not end the poll.
   */
  readonly poll_s_max?: number;
  /** Returns the progress text and its prefix, which is shown on a terminal only. */
  readonly progressOf?: (operation: OperationView) => Promise<readonly [text: string, before: string]>;
};

/** Minimum time between the starts of two long polls, in case the server answers at once. */
const PERIOD_MS_MIN = 1_000;
/** Time for the answer beyond the long poll itself. */
const ANSWER_SLACK_MS = 15_000;

/**
 * Waits until the operation is at rest and returns it. Throws a Failure with exit code 6 if the time limit ends first.
 */
export async function follow(io: Io, wanted: Follow): Promise<OperationView> {
  const note = `Operation ${wanted.id} continues; to wait for it, run: ${io.program} operation wait ${wanted.id}`;
  return await notingInterrupt(io, note, () => untilAtRest(io, wanted));
}

async function untilAtRest(
  io: Io,
  { id, limit_ms, poll_s_max, progressOf = stepsDone }: Follow,
): Promise<OperationView> {
  const { environment } = io;
  const line = statusLine(io);
  const end_ms = environment.monotonicMs() + limit_ms;
  // A long poll answers when the operation ends or the poll's time is over. On a terminal the first request does not
  // wait, so that progress shows at once.
  let is_first = environment.stderr.isTTY && !io.json && poll_s_max === undefined;
  try {
    for (;;) {
      const sent_ms = environment.monotonicMs();
      const left_s = Math.floor((end_ms - sent_ms) / 1_000);
      const poll_s = is_first ? 0 : Math.max(0, Math.min(OPERATION_WAIT_S_MAX, poll_s_max ?? Infinity, left_s));
      const operation = await io.send<OperationView>({
        method: "GET",
        path: operationPath(id),
        query: { wait: poll_s },
        limit_ms: poll_s * 1_000 + ANSWER_SLACK_MS,
      });
      if (isAtRest(operation.state)) return operation;
      line.show(...await progressOf(operation));
      const now_ms = environment.monotonicMs();
      if (now_ms >= end_ms) {
        throw new Failure(`operation ${id} is still ${operation.state} after ${limit_ms / 1_000} s`, EXIT.wait_timeout);
      }
      if (!is_first) await pause(environment, Math.max(0, Math.min(sent_ms + PERIOD_MS_MIN - now_ms, end_ms - now_ms)));
      is_first = false;
    }
  } finally {
    line.clear();
  }
}

/** Returns whether the operation has ended or is stuck. A stuck operation continues only when an operator acts. */
export function isAtRest(state: OperationState): boolean {
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

/** Returns how and why an operation ended without success. */
export function endText({ id, state, error, stuck_reason, steps }: OperationView): string {
  // A failed drain has a result: the instances that it moved stay where they are.
  const is_undone = state === "unwound" && (steps.at(-1)?.output ?? null) === null;
  const end = state === "stuck" ? "is stuck" : is_undone ? "failed and was rolled back" : "failed";
  const why = error ?? stuck_reason;
  return `operation ${id} ${end}${why === null ? "" : `: ${why}`}`;
}

function stepsDone({ state, progress }: OperationView): Promise<readonly [string, string]> {
  const step = progress.current_step === null ? "" : `, ${progress.current_step}`;
  return Promise.resolve([`${state}: ${progress.completed_steps} of ${progress.total_steps} steps${step}`, ""]);
}
