// Every invariant of the design that the database can tell about itself, and why it cannot tell of the others.
import { ADDRESS_CHECKS } from "./addresses.ts";
import { AUDIT_CHECKS } from "./audit.ts";
import type { Check, Outside } from "./check.ts";
import { LOG_CHECKS, rowChecks } from "./log.ts";
import { NODE_CHECKS } from "./nodes.ts";
import { OPERATION_CHECKS } from "./operations.ts";
import { TENANCY_CHECKS } from "./tenancy.ts";

export type ActorTable = Parameters<typeof rowChecks>[0][number];

/** In the order of their numbers. `kinds` are the actor kinds of this build, each with the table of its rows. */
export function invariants(kinds: readonly ActorTable[]): readonly Check[] {
  const all = [
    ...LOG_CHECKS,
    ...rowChecks(kinds),
    ...ADDRESS_CHECKS,
    ...NODE_CHECKS,
    ...OPERATION_CHECKS,
    ...TENANCY_CHECKS,
    ...AUDIT_CHECKS,
  ];
  return all.sort((a, b) => numberOf(a) - numberOf(b));
}

function numberOf({ id }: { readonly id: string }): number {
  return Number(id.slice("INV-".length).replace("b", ".5"));
}

export const OUTSIDE: readonly Outside[] = [
  {
    id: "INV-3b",
    title: "a refusal was right for some state between request and answer",
    reason: "only clients know when they asked; simulated histories check it",
  },
  {
    id: "INV-5",
    title: "what was answered before something else was sent comes first",
    reason: "only clients know when they heard; simulated histories check it",
  },
  {
    id: "INV-11",
    title: "an operation that is taken back leaves nothing",
    reason: "it needs the rows from before; the tests of the operations compare them",
  },
  {
    id: "INV-18",
    title: "no secret is outside",
    reason: "it needs secrets that are known; tests with planted ones check it",
  },
  {
    id: "INV-19",
    title: "a reader of the image index sees one generation only",
    reason: "the index is no part of the database; index-builder checks the tree that it publishes",
  },
  {
    id: "INV-20",
    title: "memory, connections and queues stay within their bounds",
    reason: "it is about a process over time; look at /metrics",
  },
];
