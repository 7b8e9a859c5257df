// What a filter says of a node.
import type { FilterVerdict } from "../../contract/enums.ts";
import type { NodeSnapshot } from "./snapshot.ts";
import type { PlacementRequest } from "./request.ts";

/** `reason` is there when it rejects: a clause about the node, for operators. */
export type Verdict = { readonly verdict: FilterVerdict; readonly reason?: string };

/** Judges one node. Reads no other one. */
export type Filter = (node: NodeSnapshot, request: PlacementRequest, now: Date) => Verdict;

/** The node has what was asked. */
export const ACCEPT: Verdict = { verdict: "accept" };
/** Nothing was asked that this filter could judge, or what it judges by is not there. */
export const SKIP: Verdict = { verdict: "skip" };

/** The node cannot take it; `reason` is a clause that begins with "it" or says a figure. */
export function reject(reason: string): Verdict {
  return { verdict: "reject", reason };
}
