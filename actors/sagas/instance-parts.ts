// Parts that the operations on instances share: their messages to the instance, and the final reply to their callers.
import type { Instance } from "../../src/contract/instance.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { withActor } from "../engine/effects.ts";
import type { With } from "../engine/types.ts";
import type { InstanceMessage } from "../instance/messages.ts";

type Context<Params> = { readonly params: Params; readonly saga_id: string; readonly now: Date };
type OfInstance = { readonly instance_id: string };
type Rest = "running" | "stopped";

export function toInstance({ params }: { readonly params: OfInstance }, message: InstanceMessage): With {
  return withActor({ kind: "instance", id: params.instance_id }, message);
}

/** Moves the instance to its final state, in the commit of the operation's last step. */
export function instanceEnds(c: Context<OfInstance>, to: Rest): With {
  return toInstance(c, { type: "settle", operation_id: c.saga_id, to });
}

/** The reply to a caller that repeats the request later: the instance as the operation left it. */
export function settled(c: Context<OfInstance & { readonly instance: Instance }>, to: Rest) {
  return { instance: { ...c.params.instance, lifecycle: { state: to }, updated_at: toRfc3339(c.now) } };
}

export function failed(c: Context<OfInstance> & { readonly error: string | null }): With {
  const reason = c.error ?? "the operation was undone";
  return toInstance(c, { type: "operation_failed", operation_id: c.saga_id, reason });
}
