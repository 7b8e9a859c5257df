// Finds the node that makes a request.
import type { Ctx } from "../routes/deps.ts";

/**
 * Returns the node of the caller's key. Throws if the key has no node, because then the permissions of the route are
 * wrong.
 */
export function nodeOf(c: Ctx): string {
  const principal = c.get("principal");
  if (principal.kind !== "user" || principal.bound_cn === null) {
    throw new Error("a caller without a node reached a route for nodes");
  }
  return principal.bound_cn;
}
