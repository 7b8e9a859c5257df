// Shows whether the nodes have applied a network record.
import type { Realized } from "../../src/contract/network.ts";
import { counted } from "../core/text.ts";

/** Returns a few words for a column. */
export function realizedText(realized: Realized | null): string {
  if (realized === null) return "unknown";
  const { desired_generation, applied_generation, realizations } = realized;
  const failed = realizations.find(({ status, message }) => status !== "applied" && message !== null);
  if (failed !== undefined) return `failed: ${failed.message}`;
  if (realizations.length === 0) return "no node needs it";
  const waiting = realizations.filter(({ generation }) => generation < desired_generation).length;
  if (waiting > 0) return `waits for ${counted(waiting, "node")}`;
  return applied_generation === null ? "waits for a node" : "applied";
}
