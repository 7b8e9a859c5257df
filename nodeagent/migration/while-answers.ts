// Runs the work of a live migration only while the target answers. When the target's node loses its power, no
// connection ends. Without this check, mirrored writes of the guest would wait for the time limits of TCP, which are
// about 15 minutes.
import { setTimeout as sleep } from "node:timers/promises";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import type { MoveLink } from "./migrations.ts";

export type Patience = {
  /** Pause between two questions to the target, and the time limit of an answer. */
  readonly ask_ms: number;
  readonly answer_limit_ms: number;
  /** The source gives up a target that has not answered for this time, which is shorter than a guest's disk timeout. */
  readonly silence_limit_ms: number;
};

const PATIENCE: Patience = { ask_ms: 2_000, answer_limit_ms: 10_000, silence_limit_ms: 20_000 };

export type Work<T> = {
  /** Ends the work for a reason other than a silent target. */
  readonly signal: AbortSignal;
  /** Called when the source gives up the target, before `whileAnswers` throws. */
  readonly onLost: () => Promise<void>;
  /** The signal is aborted when the source gives up the target. */
  readonly run: (signal: AbortSignal) => Promise<T>;
};

/** Runs work that needs the target. Throws when the target is silent, even if the work does not end. */
export async function whileAnswers<T>(
  link: Pick<MoveLink, "answers">,
  { signal, onLost, run }: Work<T>,
  patience = PATIENCE,
): Promise<T> {
  const lost = new AbortController();
  const over = new AbortController();
  const working = run(AbortSignal.any([signal, lost.signal]));
  const watching = untilSilent(link, AbortSignal.any([signal, over.signal]), patience).then(async (why) => {
    if (why === null) return await working;
    working.catch(() => {}); // `whileAnswers` throws `why`, not the error of the work.
    lost.abort(why);
    await onLost();
    throw why;
  });
  try {
    return await Promise.race([working, watching]);
  } catch (error) {
    // The work may end first, with an error that reports only the abort.
    throw lost.signal.aborted ? lost.signal.reason : error;
  } finally {
    over.abort();
    watching.catch(() => {});
  }
}

/** Returns a Failure when the target is silent; null when the signal ends the watch. */
async function untilSilent(
  link: Pick<MoveLink, "answers">,
  signal: AbortSignal,
  { ask_ms, answer_limit_ms, silence_limit_ms }: Patience,
): Promise<Failure | null> {
  let answered_ms = performance.now();
  for (;;) {
    if (!await sleep(ask_ms, true, { signal }).catch(() => false)) return null;
    if (await link.answers(answer_limit_ms)) answered_ms = performance.now();
    if (signal.aborted) return null;
    if (performance.now() - answered_ms > silence_limit_ms) {
      return new Failure(`the target has not answered for ${silence_limit_ms / 1_000} s`, EXIT.failure);
    }
  }
}
