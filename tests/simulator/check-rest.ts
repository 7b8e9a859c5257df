// INV-10: when faults have stopped, every operation has ended, every job that was reported done counts as done for the
// operation that waits for it, and no tell is left over.
import type { Evidence } from "./evidence.ts";
import type { Violation } from "./violation.ts";

export function checkRest(evidence: Evidence): readonly Violation[] {
  const found: Violation[] = [];
  for (const [about, { state }] of evidence.tables.actors) {
    const say = (text: string) => found.push({ invariant: "10 operations come to rest", about, text });
    const at = state?.["state"];
    if (about.startsWith("saga:") && at !== "succeeded" && at !== "unwound") say(`still ${at} when all is quiet`);
    if (about.startsWith("job:") && at === "completed") {
      const saga = evidence.tables.actors.get(`saga:${state?.["saga_id"]}`)?.state?.["state"];
      if (saga !== "succeeded") say(`completed, but the operation is ${saga}`);
    }
  }
  if (evidence.tables.outbox.size > 0) {
    const text = `${evidence.tables.outbox.size} tells were not delivered`;
    found.push({ invariant: "10 operations come to rest", about: "outbox", text });
  }
  return found;
}
