// Waits for the results of long polls (docs/wire.md, "Long polls"). Each caller can have at most its share of all long
// polls. Callers without a credential have one share for each IP address. The server authorizes a long poll again
// before it answers. If the key was deleted during the wait, the answer is 401.
import { type Fault, fault } from "../contract/fault.ts";
import { goneSignal } from "../http/env.ts";
import { shareOf } from "../auth/caller.ts";
import { addressBucket } from "../lib/net/client-address.ts";
import type { Ctx, Polls, RouteDeps } from "./deps.ts";

const TOO_MANY_WAIT = fault("unavailable", "too many requests are waiting; try again", { retry_after_s: 5 });

/**
 * Waits for the result of a long poll and returns it as `found`. `found` is null after the timeout, if the caller
 * disconnects, or if the wait ends early to make room for another caller. Returns a Fault if too many requests wait.
 */
export async function hold<V extends object>(
  c: Ctx,
  { holdShares }: Pick<RouteDeps, "holdShares">,
  wait: { readonly polls: Polls<V>; readonly key: string; readonly hold_ms: number },
): Promise<{ readonly found: V | null } | Fault> {
  const gone = goneSignal(c);
  const end = new AbortController();
  const leave = () => end.abort();
  const principal = c.get("principal");
  const slot = principal.kind === "user"
    ? holdShares.known.take(shareOf(principal).id, 1, leave)
    : holdShares.strangers.take(addressBucket(c.get("clientAddress")), 1, leave);
  if (slot === null) return TOO_MANY_WAIT;
  if (gone.aborted) leave();
  gone.addEventListener("abort", leave);
  c.set("held", true);
  try {
    const found = await wait.polls.wait(wait.key, wait.hold_ms, end.signal);
    return found === "full" ? TOO_MANY_WAIT : { found };
  } finally {
    gone.removeEventListener("abort", leave);
    slot.release();
  }
}
