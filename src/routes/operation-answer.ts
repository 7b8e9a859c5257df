// Starts operations and answers with their outcome. An operation does not depend on the request that waits for it: the
// operation continues if the caller disconnects, or if the caller's credential ends (the answer is then 401). With
// `Prefer: respond-async` (RFC 7240) the answer is 202 with the operation.
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

/**
 * The type of a 202 with an OperationSummary. The router's types allow only one success per route, so the type of the
 * 202 is `never` for the router.
 */
type Accepted = never;

/** The headers in the `request` of a route that starts an operation. */
export const PREFER = z.object({
  Prefer: z.string().optional().describe(
    "respond-async: answer immediately with the operation, without waiting for its end",
  ),
});

/** The 202 in the `responses` of a route that starts an operation. */
export const ACCEPTED = {
  202: {
    description: "With Prefer: respond-async: the operation is running; Location is its URL",
    content: { "application/json": { schema: OperationSummary } },
  },
} as const;

export type Begun<K extends keyof Messages> = {
  readonly to: To<K>;
  /**
   * Builds the message that starts the operation. Is not called for a repeated request whose operation exists. `tries`
   * is the number of earlier tries.
   */
  readonly message: (tries: number) => Promise<Messages[K] | Fault>;
  /** The rule for further tries if the input of the decision has changed (decide-again.ts). Default: only one try. */
  readonly again?: Again;
  readonly idempotency: IdempotencyClaim;
  readonly operation_id: string;
  /** How a failure is reported: the start of the error message, and the code. */
  readonly failure: { readonly what: string; readonly error_code: ErrorCode };
};

export type Ended =
  | { readonly ended: "accepted"; readonly answer: Accepted }
  /** `output` is the output of the operation's last step. */
  | { readonly ended: "succeeded"; readonly output: unknown }
  | { readonly ended: "refused"; readonly fault: Fault };

/**
 * Starts the operation and waits for its outcome. Does not wait if the request has `Prefer: respond-async`, or if it is
 * repeated and its operation exists already.
 */
export async function operate<K extends keyof Messages>(c: Ctx, deps: Operates, begun: Begun<K>): Promise<Ended> {
  const { to, idempotency, operation_id } = begun;
  const before = idempotency.repeated ? await findOperationStatus(deps.byKey, operation_id) : undefined;
  if (before !== undefined) return wantsNoWait(c) ? accepted(c, before) : repeatedOutcome(before, begun);
  let limit_ms: number | undefined;
  const outcome = await decideAgain(idempotency, begun.again ?? ONCE, async (at, tries) => {
    const message: object = await begun.message(tries);
    if (isFault(message)) return { ok: false, fault: message };
    // Most messages contain the time limit of the node.
    ({ limit_ms } = message as { readonly limit_ms?: number });
    return await deps.send(c, to, message as Messages[K], at);
  });
  if (!outcome.ok) return { ended: "refused", fault: outcome.fault };
  if (!wantsNoWait(c)) {
    const hold_ms = (limit_ms ?? await deps.settings.instanceWaitS() * 1_000) + OPERATION_GRACE_MS;
    await hold(c, deps, { polls: deps.outcomes, key: operation_id, hold_ms });
  }
  const after = await deps.findOne(findOperationStatus, operation_id);
  if (after === null) throw new Error(`operation ${operation_id} was started but does not exist`);
  return wantsNoWait(c) ? accepted(c, after) : outcomeOf(after, begun.failure);
}

const ONCE: Again = { tries_max: 1, isStale: () => false };

function outcomeOf({ summary, output }: OperationStatus, { what, error_code }: Begun<never>["failure"]): Ended {
  const { id, state, error, stuck_reason } = summary;
  if (state === "succeeded") return { ended: "succeeded", output };
  if (state === "running") return { ended: "refused", fault: stillRunning(id) };
  const still = state === "unwound" ? "" : `; operation ${id} is ${state}`;
  const reason = error ?? stuck_reason ?? "the operation was rolled back";
  return { ended: "refused", fault: fault("node_failed", `${what} failed: ${reason}${still}`, { error_code }) };
}

/** Returns the answer of the first request, or a 409 while the operation is still running. */
function repeatedOutcome(current: OperationStatus, { failure }: Pick<Begun<never>, "failure">): Ended {
  const { id, state } = current.summary;
  if (state !== "running") return outcomeOf(current, failure);
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

/**
 * Returns the 503 for an outcome that is not known yet, because the wait ended, the server is stopping, or too many
 * requests wait.
 */
function stillRunning(id: string): Fault {
  return fault("unavailable", `operation ${id} is still running; check it, or its object, later`, {
    retry_after_s: RETRY_S,
  });
}
