// Adds indexes to the journal for the checks.
import type { MemoryTables } from "../support/memory-rows.ts";
import { refKey } from "../../actors/engine/types.ts";
import type { Journal, Operation, RowVersion, StampedTransition } from "./journal.ts";

export type Evidence = {
  readonly journal: Journal;
  readonly tables: MemoryTables;
  /** The transitions of each actor, in the order in which they took effect. */
  readonly byActor: ReadonlyMap<string, readonly StampedTransition[]>;
  readonly byMessage: ReadonlyMap<string, readonly StampedTransition[]>;
  readonly operations: ReadonlyMap<string, Operation>;
};

export function gather(journal: Journal, tables: MemoryTables): Evidence {
  const byActor = Map.groupBy(journal.transitions, actorKey);
  const byMessage = Map.groupBy(journal.transitions, (each) => each.msg_id);
  const operations = new Map(journal.operations.map((each) => [each.msg_id, each]));
  return { journal, tables, byActor, byMessage, operations };
}

export function actorKey(of: { readonly actor_kind: string; readonly actor_id: string }): string {
  return `${of.actor_kind}:${of.actor_id}`;
}

/** Returns the transitions that an operation caused on the actor to which it was sent. */
export function effectsOf(evidence: Evidence, operation: Operation): readonly StampedTransition[] {
  const key = refKey(operation.to);
  return (evidence.byMessage.get(operation.msg_id) ?? []).filter((each) => actorKey(each) === key);
}

/**
 * Returns the rows that an actor had during an operation. `until_ms` is the time at which the row was replaced or the
 * operation ended, whichever came first.
 */
export function rowsDuring(
  evidence: Evidence,
  key: string,
  operation: Operation,
): readonly { readonly row: RowVersion["row"]; readonly until_ms: number }[] {
  const versions = evidence.journal.rows.get(key) ?? [];
  const end = operation.answered ?? { stamp: Infinity, ms: Infinity };
  const seen: { row: RowVersion["row"]; until_ms: number }[] = [];
  for (let index = -1; index < versions.length; index += 1) {
    const since = versions[index]?.since.stamp ?? 0;
    const next = versions[index + 1]?.since ?? { stamp: Infinity, ms: Infinity };
    if (since > end.stamp || next.stamp < operation.sent.stamp) continue;
    seen.push({ row: versions[index]?.row ?? null, until_ms: Math.min(end.ms, next.ms) });
  }
  return seen;
}
