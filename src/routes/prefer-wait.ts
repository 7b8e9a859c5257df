// Lets a request that changes a network wait until the nodes have applied the change, with `Prefer: wait=N` (RFC 7240).
// The change is committed before the wait, so the wait does not affect the change (docs/networking.md, "Realizations").
import { z } from "zod";
import { isFault } from "../contract/fault.ts";
import { PREFER_WAIT_S_MAX } from "../contract/limits.ts";
import type { Realized } from "../contract/network.ts";
import type { Ctx, RouteDeps } from "./deps.ts";
import { hold } from "./long-poll.ts";

/** The dependencies of a route that may wait. */
export type Waits = Pick<RouteDeps, "holdShares" | "networks" | "realizations">;

/** The headers in the `request` of a route that may wait. */
export const PREFER_WAIT = z.object({
  Prefer: z.string().optional().describe(
    "wait=N: answer when all nodes of the VPC have applied the change, or after N seconds, at most " +
      `${PREFER_WAIT_S_MAX}. The answer has the header Preference-Applied: wait=N if all nodes have applied the change`,
  ),
});

/**
 * Waits until all nodes of the VPC have applied the committed state, if the request has `Prefer: wait`. Returns how far
 * the nodes have applied this state; null if the request does not wait, or if the VPC is deleted.
 * @param nat_gateway_id a NAT gateway. The request also waits for its node, which a later commit chooses
 */
export async function applied(
  c: Ctx,
  deps: Waits,
  vpc_id: string,
  { nat_gateway_id }: { readonly nat_gateway_id?: string } = {},
): Promise<Realized | null> {
  const wait_s = preferredWait(c);
  if (wait_s === null) return null;
  const wanted = await deps.networks.realized(vpc_id);
  if (wanted === null) return null;
  const key = [vpc_id, wanted.desired_generation, ...(nat_gateway_id === undefined ? [] : [nat_gateway_id])].join(" ");
  if (!await deps.networks.isApplied(key) && wait_s > 0) {
    // If too many requests wait, the answer has no Preference-Applied.
    const held = await hold(c, deps, { polls: deps.realizations, key, hold_ms: wait_s * 1_000 });
    if (isFault(held)) return wanted;
  }
  const [is_applied, realized] = [await deps.networks.isApplied(key), await deps.networks.realized(vpc_id)];
  if (realized !== null && is_applied) c.header("preference-applied", `wait=${wait_s}`);
  return realized;
}

/** Returns whether the request has the preference `wait`. */
export function prefersWait(c: Ctx): boolean {
  return preferredWait(c) !== null;
}

/**
 * Returns the seconds of the preference `wait`; null without this preference. A malformed preference is ignored (RFC
 * 7240).
 */
function preferredWait(c: Ctx): number | null {
  for (const each of (c.req.header("prefer") ?? "").split(",")) {
    const seconds = /^\s*wait\s*=\s*"?(\d{1,6})"?\s*(?:;.*)?$/i.exec(each)?.[1];
    if (seconds !== undefined) return Math.min(Number(seconds), PREFER_WAIT_S_MAX);
  }
  return null;
}
