// The node whose key a call came with.
import type { Ctx } from "../routes/deps.ts";

/** Throws where the gate lets others pass than keys of nodes, a bug of the route. */
export function nodeOf(c: Ctx): string {
  const principal = c.get("principal");
  if (principal.kind !== "user" || principal.bound_cn === null) throw new Error("an agent route without a node");
  return principal.bound_cn;
}
