// Lists the invariants that queries can check, and the reasons why queries cannot check the others
// (docs/reliability.md, "Invariants").
import { ADDRESS_CHECKS } from "./addresses.ts";
import { auditChecks } from "./audit.ts";
import type { Check, Outside } from "./check.ts";
import { logChecks, rowChecks } from "./log.ts";
import { nodeChecks } from "./nodes.ts";
import { operationChecks } from "./operations.ts";
import type { Scope } from "./scope.ts";
import { tenancyChecks } from "./tenancy.ts";

export type ActorTable = Parameters<typeof rowChecks>[0][number];

/**
 * Lists the checks by number. `kinds` are the actor kinds of this build, each with the table of its rows. `scope` is
 * the part of the log that the checks read.
 */
export function invariants(kinds: readonly ActorTable[], scope: Scope = "all"): readonly Check[] {
  const all = [
    ...logChecks(scope),
    ...rowChecks(kinds, scope),
    ...ADDRESS_CHECKS,
    ...nodeChecks(scope),
    ...operationChecks(scope),
    ...tenancyChecks(scope),
    ...auditChecks(scope),
  ];
  return all.sort((a, b) => numberOf(a) - numberOf(b));
}

function numberOf({ id }: { readonly id: string }): number {
  return Number(id.slice("INV-".length).replace("b", ".5"));
}

export const OUTSIDE: readonly Outside[] = [
  {
    id: "INV-3b",
    title: "a refusal was correct for some state between request and reply",
    reason: "only clients know when they sent a request; simulated histories check it",
  },
  {
    id: "INV-5",
    title: "if a request was answered before another request was sent, the answered request takes effect first",
    reason: "only clients know when they got a reply; simulated histories check it",
  },
  {
    id: "INV-11",
    title: "an operation that was undone leaves nothing",
    reason: "it needs the earlier rows; the tests of the operations compare them",
  },
  {
    id: "INV-18",
    title: "no secret appears in logs, replies or metrics",
    reason: "it needs known secrets; tests that insert them check it",
  },
  {
    id: "INV-19",
    title: "a reader of the image index sees only one generation",
    reason: "the index is not in the database; index-builder checks the tree that it publishes",
  },
  {
    id: "INV-20",
    title: "memory, connections and queues stay within their limits",
    reason: "it concerns a process over time; see /metrics",
  },
];
