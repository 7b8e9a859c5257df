// Requests that begin an operation and answer with how it ended: the request only waits, so that a caller who leaves
// changes nothing. A caller whose credential ends meanwhile gets 401, and the operation goes on. With `Prefer: respond-async` (RFC 7240) the answer is 202 and the operation. Document 3, States and
// transitions; document 4, Fixed here, Idempotency-Key.
import { z } from "zod";
import { findOperationStatus, type OperationStatus } from "../../actors/saga/reads.ts";
import type { Messages } from "../../actors/registry.ts";
import type { ErrorCode } from "../contract/error-codes.ts";
import { conflict, type Fault, fault, isFault } from "../contract/fault.ts";
import { OPERATION_GRACE_MS } from "../contract/limits.ts";
import { OperationSummary } from "../contract/operation.ts";
import { type Again, decideAgain } from "../services/decide-again.ts";
import type { Ctx, IdempotencyClaim, Operates, To } from "./deps.ts";
import { hold } from "./long-poll.ts";

/** A 202 with an OperationSummary. No type says so: of a route with two successes the router's types keep one. */
type Accepted = never;

/** For the `request` of a route that begins an operation. */
export const PREFER = z.object({
  Prefer: z.string().optional().describe("respond-async: answer with the operation at once, not when it has ended"),
});

/** For the `responses` of a route that begins an operation. */
export const ACCEPTED = {
  202: {
    description: "With Prefer: respond-async: the operation goes on, and Location is where it is shown",
    content: { "application/json": { schema: OperationSummary } },
  },
} as const;

export type Begun<K extends keyof Messages> = {
  readonly to: To<K>;
  /** Made only when the request was not heard before. `tries`: how many went before this one. */
  readonly message: (tries: number) => Promise<Messages[K] | Fault>;
  /** Default: one try. */
  readonly again?: Again;
  readonly idempotency: IdempotencyClaim;
  readonly operation_id: string;
  /** What the caller hears of a failure, before the reason. */
  readonly failure: { readonly what: string; readonly error_code: ErrorCode };
};

export type Ended =
  | { readonly ended: "accepted"; readonly answer: Accepted }
  /** `output` is that of the operation's last step. */
  | { readonly ended: "succeeded"; readonly output: unknown }
  | { readonly ended: "refused"; readonly fault: Fault };

/** Begins the operation, or finds it begun by the same Idempotency-Key, and waits for its end. */
export async function operate<K extends keyof Messages>(c: Ctx, deps: Operates, begun: Begun<K>): Promise<Ended> {
  const { to, idempotency, operation_id } = begun;
  const before = idempotency.repeated ? await findOperationStatus(deps.kysely, operation_id) : undefined;
  if (before !== undefined) return wantsNoWait(c) ? accepted(c, before) : heardAgain(before, begun);
  const outcome = await decideAgain(idempotency, begun.again ?? ONCE, async (at, tries) => {
    const message: object = await begun.message(tries);
    if (isFault(message)) return { ok: false, fault: message };
    return await deps.send(c, to, message as Messages[K], at);
  });
  if (!outcome.ok) return { ended: "refused", fault: outcome.fault };
  if (!wantsNoWait(c)) {
    const wait_ms = await deps.settings.instanceWaitS() * 1_000 + OPERATION_GRACE_MS;
    await hold(c, deps, { polls: deps.outcomes, key: operation_id, hold_ms: wait_ms });
  }
  const after = await findOperationStatus(deps.kysely, operation_id);
  if (after === undefined) throw new Error(`operation ${operation_id} was begun and is not there`);
  return wantsNoWait(c) ? accepted(c, after) : judged(after, begun.failure);
}

const ONCE: Again = { tries_max: 1, isStale: () => false };

function judged({ summary, output }: OperationStatus, { what, error_code }: Begun<never>["failure"]): Ended {
  const { id, state, error, stuck_reason } = summary;
  if (state === "succeeded") return { ended: "succeeded", output };
  if (state === "running") return { ended: "refused", fault: goesOn(id) };
  const still = state === "unwound" ? "" : `; operation ${id} is ${state}`;
  const reason = error ?? stuck_reason ?? "the operation was undone";
  return { ended: "refused", fault: fault("node_failed", `${what} failed: ${reason}${still}`, { error_code }) };
}

/** The same answer as the first, once there is one. */
function heardAgain(standing: OperationStatus, { failure }: Pick<Begun<never>, "failure">): Ended {
  const { id, state } = standing.summary;
  if (state !== "running") return judged(standing, failure);
  const message = `the request with this Idempotency-Key still runs as operation ${id}`;
  return { ended: "refused", fault: { ...conflict(message), retry_after_s: RETRY_S } };
}

function accepted(c: Ctx, { summary }: OperationStatus): Ended {
  c.header("location", `/v1/operations/${summary.id}`);
  c.header("preference-applied", "respond-async");
  return { ended: "accepted", answer: c.json(summary satisfies OperationSummary, 202) as Accepted };
}

function wantsNoWait(c: Ctx): boolean {
  const preferences = (c.req.header("prefer") ?? "").split(",").map((each) => each.split(";")[0]?.trim().toLowerCase());
  return preferences.includes("respond-async");
}

const RETRY_S = 2;

/** Nobody knows yet how it ends: the server goes down, or too many wait. */
function goesOn(id: string): Fault {
  return fault("unavailable", `operation ${id} still runs; look at it, or at its object, later`, {
    retry_after_s: RETRY_S,
  });
}
