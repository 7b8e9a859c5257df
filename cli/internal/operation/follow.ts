// Waits for the end of an operation by held requests, and tells on the way how far it has come.
import type { OperationState } from "../../../src/contract/enums.ts";
import { OPERATION_WAIT_S_MAX } from "../../../src/contract/limits.ts";
import type { OperationView } from "../../../src/contract/operation.ts";
import { pause } from "../api.ts";
import { EXIT } from "../exit-code.ts";
import { Failure } from "../failure.ts";
import type { Io } from "../io.ts";
import { statusLine } from "../status-line.ts";
import { operationPath } from "./text.ts";

export type Follow = {
  readonly id: string;
  /** Infinity: for ever. */
  readonly limit_ms: number;
  /** How long one request may be held: shorter when there is more to tell than the operation knows. */
  readonly hold_s_max?: number;
  /** What to tell while it runs: what changed, and before it what always changes. */
  readonly tell?: (operation: OperationView) => Promise<readonly [text: string, before: string]>;
};

/** A server that does not hold must not be asked in a tight loop. */
const PERIOD_MS_MIN = 1_000;
/** Beyond the hold, what an answer may take on the way. */
const ANSWER_SLACK_MS = 15_000;

/** The operation at rest, whatever its end. Throws a Failure with exit code 6 when the time is up before. */
export async function follow(io: Io, { id, limit_ms, hold_s_max, tell = stepsDone }: Follow): Promise<OperationView> {
  const { environment } = io;
  const line = statusLine(io);
  const end_ms = environment.monotonicMs() + limit_ms;
  try {
    for (;;) {
      const asked_ms = environment.monotonicMs();
      const left_s = Math.floor((end_ms - asked_ms) / 1_000);
      const hold_s = Math.max(0, Math.min(OPERATION_WAIT_S_MAX, hold_s_max ?? Infinity, left_s));
      const operation = await io.send<OperationView>({
        method: "GET",
        path: operationPath(id),
        query: { wait: hold_s },
        limit_ms: hold_s * 1_000 + ANSWER_SLACK_MS,
      });
      if (isAtRest(operation.state)) return operation;
      line.show(...await tell(operation));
      const now_ms = environment.monotonicMs();
      if (now_ms >= end_ms) {
        throw new Failure(`operation ${id} is still ${operation.state} after ${limit_ms / 1_000} s`, EXIT.wait_timeout);
      }
      await pause(environment, Math.max(0, Math.min(asked_ms + PERIOD_MS_MIN - now_ms, end_ms - now_ms)));
    }
  } finally {
    line.clear();
  }
}

/** Stuck counts as over: it moves again only when an operator acts. */
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

/** Why it did not succeed. */
export function endText({ id, state, error, stuck_reason }: OperationView): string {
  const why = error ?? stuck_reason;
  return `operation ${id} ended as ${state}${why === null ? "" : `: ${why}`}`;
}

function stepsDone({ state, progress }: OperationView): Promise<readonly [string, string]> {
  const step = progress.current_step === null ? "" : `, ${progress.current_step}`;
  return Promise.resolve([`${state}: ${progress.completed_steps} of ${progress.total_steps} steps${step}`, ""]);
}
