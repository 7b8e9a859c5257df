// INV-12: only the target node claims or ends a job, and a job that is cancelled in progress has a tombstone.
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
      if (claimed_by !== null && claimed_by !== target_cn) say(`claimed by ${claimed_by}, but it is for ${target_cn}`);
      if (state === "cancelled" && before === "in_progress") {
        counters.job_cancelled_in_hand += 1;
        if (tombstone !== true) say("was cancelled in progress without a tombstone");
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
        text: `${message.type} of ${message["by"]} was accepted`,
      });
    }
  }
  return found;
}
