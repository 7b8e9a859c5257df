// Shows whether the nodes have applied a network record.
import type { Realized } from "../../src/contract/network.ts";
import { counted } from "../core/text.ts";

/** Returns the state of the record on the nodes, as a few words for a column. */
export function realizedText(realized: Realized | null): string {
  if (realized === null) return "unknown";
  const { applied_generation, nodes, nodes_pending, realizations } = realized;
  const failed = realizations.find(({ status, message }) => status !== "applied" && message !== null);
  if (failed !== undefined) return `failed: ${failed.message}`;
  if (nodes === 0) return "no node needs it";
  if (nodes_pending > 0) return `waits for ${counted(nodes_pending, "node")}`;
  return applied_generation === null ? "waits for a node" : "applied";
}
