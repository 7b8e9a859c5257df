// The result of a filter.
import type { FilterVerdict } from "../../contract/enums.ts";
import type { NodeSnapshot } from "./snapshot.ts";
import type { PlacementRequest } from "./request.ts";

/** A rejection has a `reason`: a clause about the node, for operators. */
export type Verdict = { readonly verdict: FilterVerdict; readonly reason?: string };

/** Checks one node, independently of the others. */
export type Filter = (node: NodeSnapshot, request: PlacementRequest, now: Date) => Verdict;

/** The node meets the request. */
export const ACCEPT: Verdict = { verdict: "accept" };
/** The request makes no demand of this filter, or the node has no data for it. */
export const SKIP: Verdict = { verdict: "skip" };

/** The node does not meet the request. `reason` is a clause that begins with "it" or a figure. */
export function reject(reason: string): Verdict {
  return { verdict: "reject", reason };
}
