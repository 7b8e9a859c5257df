// INV-10 and INV-11: at the end of the quiet period after the faults, every operation and job has ended, the operation
// of every completed job has recorded the completion, and the outbox is empty.
import type { Evidence } from "./evidence.ts";
import type { Violation } from "./violation.ts";

type Row = Readonly<Record<string, unknown>> | null;

export function checkRest(evidence: Evidence): readonly Violation[] {
  const found: Violation[] = [];
  for (const [about, { state }] of evidence.tables.actors) {
    const say = (text: string) => found.push({ invariant: "10 operations come to rest", about, text });
    const at = state?.["state"];
    if (about.startsWith("saga:") && at !== "succeeded" && at !== "unwound") {
      say(`still ${at} at the end of the quiet period`);
    }
    if (about.startsWith("job:") && at === "completed") {
      const saga = evidence.tables.actors.get(`saga:${state?.["saga_id"]}`)?.state ?? null;
      if (!counts(saga, state?.["id"])) say(`completed, but the operation is ${saga?.["state"]}`);
    }
    if (about.startsWith("job:") && (at === "pending" || at === "in_progress")) {
      say(`still ${at} at the end of the quiet period`);
    }
    if (state?.["saga"] === "errand") { for (const text of errandProblems(evidence, about, state)) say(text); }
  }
  if (evidence.tables.outbox.size > 0) {
    const text = `${evidence.tables.outbox.size} outbox messages were not delivered`;
    found.push({ invariant: "10 operations come to rest", about: "outbox", text });
  }
  return found;
}

type Steps = Readonly<Record<string, { readonly status: string; readonly job_id: string | null }>>;

/** Returns whether the operation recorded this job as completed, even if the operation was abandoned afterwards. */
function counts(saga: Row, job_id: unknown): boolean {
  const step = Object.values((saga?.["steps"] ?? {}) as Steps).find((each) => each.job_id === job_id);
  return saga?.["state"] === "succeeded" || step?.status === "succeeded" || step?.status === "undone";
}

/**
 * Checks that a successful errand has a completed job and its outputs, and that an unwound errand has undone its note.
 */
function errandProblems(evidence: Evidence, about: string, state: Row): readonly string[] {
  const outputs = state?.["outputs"] as Readonly<Record<string, unknown>>;
  const steps = state?.["steps"] as Steps;
  if (state?.["state"] === "succeeded") {
    const job = evidence.tables.actors.get(`job:${steps["walk"]?.job_id}`)?.state?.["state"];
    return [
      ...(job === "completed" ? [] : [`succeeded, but its job is ${job}`]),
      ...(["note", "walk", "report"].every((step) => outputs[step] !== undefined)
        ? []
        : ["succeeded without its outputs"]),
    ];
  }
  return state?.["state"] === "unwound" && steps["note"]?.status === "succeeded"
    ? [`${about} has not undone its note`]
    : [];
}
