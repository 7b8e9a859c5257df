// Starts a saga whose start message contains the reply that the caller gets, such as the plan of a drain by label.
import type { Outcome } from "../../actors/engine/types.ts";
import type { SagaMessage } from "../../actors/saga/messages.ts";
import type { Ctx, IdempotencyClaim, Writes } from "../routes/deps.ts";

/** The start of a saga without the type of the message. `reply` is the reply to the caller. */
type SagaStart<R> = Omit<Extract<SagaMessage, { readonly type: "start" }>, "type" | "reply"> & { readonly reply: R };

/** Starts the saga. A repeated request gets the reply of the first request. */
export async function startSaga<R>(
  c: Ctx,
  deps: Pick<Writes, "send">,
  start: SagaStart<R>,
  idempotency: IdempotencyClaim,
): Promise<Outcome<R>> {
  const message = { type: "start", ...start } as const;
  // A saga replies to its start with the `reply` of the message. The engine stores it as JSON, without its type.
  return await deps.send(c, { kind: "saga", id: start.id }, message, idempotency) as Outcome<R>;
}
