// INV-2 and INV-6: each actor follows the published state table, one step per seq, without gaps or duplicates, and its
// row is the result of its last step. A new incarnation starts at seq 1, after the earlier incarnation has ended.
import type { Evidence } from "./evidence.ts";
import { EDGES } from "./published.ts";
import type { Violation } from "./violation.ts";

export function checkPath(evidence: Evidence): readonly Violation[] {
  const found: Violation[] = [];
  for (const [key, steps] of evidence.byActor) {
    let state = "absent";
    let seq = 0;
    let life = "";
    for (const step of steps) {
      const say = (invariant: Violation["invariant"], text: string) =>
        found.push({ invariant, about: key, text: `${step.event} at seq ${step.seq}: ${text}` });
      if (step.incarnation !== life) {
        if (state !== "absent") say("6 one writer", `a second incarnation while the first is ${state}`);
        life = step.incarnation;
        seq = 0;
      }
      if (step.seq <= seq) say("6 one writer", `seq ${seq} was written before`);
      if (step.seq > seq + 1) say("2 legal path", `a gap after seq ${seq}`);
      if (step.from_state !== state) say("2 legal path", `from ${step.from_state}, but the actor was ${state}`);
      const edge = `${step.from_state}>${step.to_state}`;
      if (EDGES[step.actor_kind]?.[step.event]?.includes(edge) !== true) {
        say("2 legal path", `${edge} is not in the state table`);
      }
      state = step.to_state;
      seq = step.seq;
    }
    const row = evidence.tables.actors.get(key);
    // A transition of a node can end the node's claims without a transition in the claims' own logs.
    if (row === undefined && key.startsWith("enrolment-claim:")) continue;
    if ((row?.state?.["state"] ?? "absent") !== state || (row !== undefined && row.version !== seq)) {
      const text = `the row is ${String(row?.state?.["state"] ?? "absent")} at ${
        row?.version ?? 0
      }, the log ${state} at ${seq}`;
      found.push({ invariant: "2 legal path", about: key, text });
    }
  }
  for (const key of evidence.tables.actors.keys()) {
    if (!evidence.byActor.has(key)) {
      found.push({ invariant: "2 legal path", about: key, text: "a row without a history" });
    }
  }
  return found;
}
