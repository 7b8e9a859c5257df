// Shows, as a column of lists, which nodes have not applied the newest change of a record's VPC.
import type { Realized } from "../../../src/contract/network.ts";
import { type Column, WIDE_COLUMN } from "../../internal/table.ts";

type Realizable = { readonly realized: Realized | null };

/** The nodes that have not applied the newest change, shown with `-o wide`. */
export const PENDING_COLUMN: Column<Realizable> = ["PENDING", pendingText, WIDE_COLUMN];

/**
 * Returns the nodes that have not applied the desired generation, each with its reason if it failed. If there are many
 * nodes, the server names only some of them, and the result has the number of the others. Returns `none` if all nodes
 * have applied the generation, and `no node` if the network needs a node but has none. Returns null if the record has
 * no state on nodes.
 */
function pendingText({ realized }: Realizable): string | null {
  if (realized === null) return null;
  const { desired_generation, applied_generation, nodes_pending, realizations } = realized;
  const pending = realizations.filter(({ generation, status }) =>
    generation < desired_generation || status !== "applied"
  );
  if (pending.length > 0) {
    const named = pending.map(({ realizer, message }) =>
      message === null ? realizer.id : `${realizer.id} (${message})`
    );
    if (nodes_pending > pending.length) named.push(`${nodes_pending - pending.length} more`);
    return named.join(", ");
  }
  return applied_generation === null ? "no node" : "none";
}
