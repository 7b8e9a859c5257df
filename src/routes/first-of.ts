// Waits for the first answer of several kinds of long polls.
import type { Polls } from "./deps.ts";

/** The reason of the abort. Without a reason, each abort would create an exception with a stack trace. */
const OVER = "over";

/**
 * Combines several kinds of long polls. A wait with a key ends with the first answer that any of them gives for the
 * key. The answer is "full" if one of them is full. If `polls` is empty, a wait lasts until its time limit.
 */
export function firstOf(polls: readonly Polls<object>[]): Polls<object> {
  return {
    wait(key, hold_ms, signal) {
      const rest = new AbortController();
      const end = () => rest.abort(OVER);
      signal.addEventListener("abort", end);
      if (signal.aborted) end();
      const waits = polls.map((each) => each.wait(key, hold_ms, rest.signal));
      const first = waits.length === 0 ? pause(hold_ms, rest.signal) : Promise.race(waits);
      return first.finally(() => {
        signal.removeEventListener("abort", end);
        end();
      });
    },
  };
}

function pause(duration_ms: number, signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      resolve(null);
    };
    const timer = setTimeout(end, duration_ms);
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
  });
}
