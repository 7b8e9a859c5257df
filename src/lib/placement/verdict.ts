// Builds the results of filters.
import type { FilterVerdict } from "../../contract/enums.ts";
import type { NodeSnapshot } from "./snapshot.ts";
import type { PlacementRequest } from "./request.ts";

/** The result of one filter for one node. A rejection has a `reason`: a clause about the node, for operators. */
export type Verdict = { readonly verdict: FilterVerdict; readonly reason?: string };

/** A filter checks one node, independently of the others. `now` is the snapshot's time. */
export type Filter = (node: NodeSnapshot, request: PlacementRequest, now: Date) => Verdict;

/** The node meets the request. */
export const ACCEPT: Verdict = { verdict: "accept" };
/** The request has no requirement that this filter checks, or the node has not reported the data. */
export const SKIP: Verdict = { verdict: "skip" };

/** The node does not meet the request. */
export function reject(reason: string): Verdict {
  return { verdict: "reject", reason };
}
