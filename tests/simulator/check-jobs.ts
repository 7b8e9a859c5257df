// INV-12: a job is never in other hands than those of its node, and one that is taken from its node while it may be at
// work leaves word that something is to be undone.
import type { Counters } from "./counters.ts";
import type { Evidence } from "./evidence.ts";
import type { Violation } from "./violation.ts";

export function checkJobs(evidence: Evidence, counters: Counters): readonly Violation[] {
  const found: Violation[] = [];
  for (const [about, versions] of evidence.journal.rows) {
    if (!about.startsWith("job:")) continue;
    const say = (text: string) => found.push({ invariant: "12 jobs", about, text });
    let before: unknown;
    for (const { row } of versions) {
      const { state, claimed_by = null, target_cn, tombstone } = row?.state ?? {};
      if (claimed_by !== null && claimed_by !== target_cn) say(`in the hands of ${claimed_by}, not of ${target_cn}`);
      if (state === "cancelled" && before === "in_progress") {
        counters.job_cancelled_in_hand += 1;
        if (tombstone !== true) say("was taken from its node, which does not hear of it");
      }
      before = state;
    }
  }
  for (const { message, to, out } of evidence.journal.operations) {
    if (to.kind !== "job" || out !== "ok") continue;
    const target = evidence.tables.actors.get(`job:${to.id}`)?.state?.["target_cn"];
    if (message["by"] !== target) {
      found.push({
        invariant: "12 jobs",
        about: `job:${to.id}`,
        text: `${message.type} of ${message["by"]} was heard`,
      });
    }
  }
  return found;
}
