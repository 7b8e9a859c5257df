// Retries a decision when its input changed between the read and the commit. Each refusal is stored under its message
// id, so each retry needs its own message id. The ids of retries are derived from the first id. So a repeated request
// uses the same ids, and gets the reply of the last retry.
import { createHash } from "node:crypto";
import type { Outcome } from "../../actors/engine/types.ts";
import type { Fault } from "../contract/fault.ts";
import type { IdempotencyClaim } from "../routes/deps.ts";

export type Again = {
  readonly tries_max: number;
  /** Returns whether the refusal means that the input of the decision changed. */
  readonly isStale: (fault: Fault) => boolean;
};

/** Calls `decide`, with the number of earlier tries, until its outcome is not stale or `tries_max` is reached. */
export async function decideAgain<T extends IdempotencyClaim | undefined, R>(
  idempotency: T,
  { tries_max, isStale }: Again,
  decide: (idempotency: T, tries: number) => Promise<Outcome<R>>,
): Promise<Outcome<R>> {
  for (let tries = 0;; tries += 1) {
    const outcome = await decide(
      tries === 0 || idempotency === undefined ? idempotency : { ...idempotency, id: idOfTry(idempotency.id, tries) },
      tries,
    );
    if (outcome.ok || tries + 1 >= tries_max || !isStale(outcome.fault)) return outcome;
  }
}

/**
 * Returns the id of a retry. It contains the time of the first id, because the stored ids are in one partition per day.
 */
function idOfTry(id: string, tries: number): string {
  const hex = createHash("sha256").update(`${id}/${tries}`).digest("hex");
  return `${id.slice(0, UUID7_TIME_CHARS)}${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6, 18)}`;
}

/** The number of characters at the start of a UUIDv7 that hold its time and version. */
const UUID7_TIME_CHARS = 15;
