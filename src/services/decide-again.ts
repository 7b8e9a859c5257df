// Decisions made with something that was read: when the commit refuses one because that changed meanwhile, the route reads
// and decides again. A refusal is stored under its message id like any other, so each further try is a message of its own,
// whose id follows from the first one's: a repeated request hears the try that counted.
import { createHash } from "node:crypto";
import type { Outcome } from "../../actors/engine/types.ts";
import type { Fault } from "../contract/fault.ts";
import type { IdempotencyClaim } from "../routes/deps.ts";

export type Again = {
  readonly tries_max: number;
  /** Whether the refusal says that what was read is not so any more. */
  readonly isStale: (fault: Fault) => boolean;
};

/** `decide` hears how many tries went before. */
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

/** Of the same day as the first, as ids are kept by day. */
function idOfTry(id: string, tries: number): string {
  const hex = createHash("sha256").update(`${id}/${tries}`).digest("hex");
  return `${id.slice(0, UUID7_TIME_CHARS)}${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6, 18)}`;
}

/** The instant and the version of a UUIDv7, as text. */
const UUID7_TIME_CHARS = 15;
