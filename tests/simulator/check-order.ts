// INV-5: if an operation was sent after another operation on the same actor had succeeded, the log has the successful
// operation first. A process applies the messages to one actor in the order in which the clients sent them.
// This second rule covers only operations that took one attempt and succeeded.
import { refKey } from "../../actors/engine/types.ts";
import { actorKey, type Evidence } from "./evidence.ts";
import type { Operation } from "./journal.ts";
import type { Violation } from "./violation.ts";

type Placed = { readonly operation: Operation; readonly place: number };

export function checkOrder(evidence: Evidence): readonly Violation[] {
  const placed = placesOf(evidence);
  const found: Violation[] = [];
  for (const [about, members] of Map.groupBy(placed, ({ operation }) => refKey(operation.to))) {
    for (const text of [...timeProblems(members), ...processProblems(members)]) {
      found.push({ invariant: "5 order of time", about, text });
    }
  }
  return found;
}

/** Returns the operations that took effect, each with its position among all steps of its actor. */
function placesOf(evidence: Evidence): readonly Placed[] {
  const placed: Placed[] = [];
  for (const [key, steps] of evidence.byActor) {
    steps.forEach((step, place) => {
      const operation = evidence.operations.get(step.msg_id);
      if (operation !== undefined && refKey(operation.to) === key && actorKey(step) === key) {
        placed.push({ operation, place });
      }
    });
  }
  return placed;
}

/** Lists operations that were sent after another operation had succeeded, but precede that operation in the log. */
function timeProblems(members: readonly Placed[]): readonly string[] {
  const events = members.flatMap((each) => [
    { stamp: each.operation.sent.stamp, each, sent: true },
    ...(each.operation.out === "ok" && each.operation.answered !== null
      ? [{ stamp: each.operation.answered.stamp, each, sent: false }]
      : []),
  ]).sort((a, b) => a.stamp - b.stamp);
  const problems: string[] = [];
  let highest = -1;
  for (const { each, sent } of events) {
    if (!sent) highest = Math.max(highest, each.place);
    else if (each.place < highest) {
      problems.push(
        `${nameOf(each)} was sent after the answer to another operation, but precedes that operation in the log`,
      );
    }
  }
  return problems;
}

function processProblems(members: readonly Placed[]): readonly string[] {
  const problems: string[] = [];
  const once = members.filter(({ operation }) => operation.attempts === 1 && operation.out === "ok");
  for (const [, own] of Map.groupBy(once, ({ operation }) => operation.engine)) {
    own.sort((a, b) => a.operation.sent.stamp - b.operation.sent.stamp);
    own.forEach((each, index) => {
      const before = own[index - 1];
      if (before !== undefined && before.place > each.place) {
        problems.push(`${nameOf(each)} overtook ${nameOf(before)} in one process`);
      }
    });
  }
  return problems;
}

function nameOf({ operation }: Placed): string {
  return `${operation.message.type} (command ${operation.command})`;
}
