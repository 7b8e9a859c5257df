// INV-1, INV-3, INV-4 and INV-17: compares the answers that clients got with the log. An acknowledged operation was
// written to the log exactly once, before its answer. Messages that may succeed without a change are the exception. A
// refused operation is not in the log. An operation without an answer is in the log at most once. A client sent the
// message of every transition, except for the events in UNSENT. Exactly the transitions in AUDITED have an audit note.
import { actorKey, effectsOf, type Evidence } from "./evidence.ts";
import type { Operation, StampedTransition } from "./journal.ts";
import { AUDITED, UNSENT } from "./published.ts";
import type { Violation } from "./violation.ts";

export function checkAnswers(evidence: Evidence): readonly Violation[] {
  const found: Violation[] = [];
  for (const operation of evidence.journal.operations) {
    const effects = effectsOf(evidence, operation);
    const text = problemOf(evidence, operation, effects);
    if (text !== null) found.push({ ...text, about: `${operation.to.kind}:${operation.to.id}` });
  }
  for (const step of evidence.journal.transitions) {
    const event = `${step.actor_kind} ${step.event}`;
    const operation = evidence.operations.get(step.msg_id);
    const about = actorKey(step);
    if (operation === undefined && !UNSENT.has(event)) {
      found.push({
        invariant: "4 unknown means at most once",
        about,
        text: `${event} was written, but no client sent it`,
      });
    }
    const note = auditProblem(step, AUDITED[event] ?? AUDITED[`${event} to ${step.to_state}`] ?? null, operation);
    if (note !== null) found.push({ invariant: "17 audit", about, text: `${event} at seq ${step.seq}: ${note}` });
  }
  return found;
}

type Problem = Pick<Violation, "invariant" | "text"> | null;

function problemOf(evidence: Evidence, operation: Operation, effects: readonly StampedTransition[]): Problem {
  const name = `${operation.message.type} ${operation.msg_id} (command ${operation.command})`;
  if (effects.length > 1) {
    return { invariant: "4 unknown means at most once", text: `${name} took effect ${effects.length} times` };
  }
  const [effect] = effects;
  const answered = operation.answered?.stamp ?? Infinity;
  if (operation.out === "ok" && effect !== undefined && effect.applied.stamp > answered) {
    return { invariant: "1 acknowledged means durable", text: `${name} was answered before it was written` };
  }
  if (operation.out === "ok" && effect === undefined && !MAY_CHANGE_NOTHING.has(operation.message.type)) {
    return { invariant: "1 acknowledged means durable", text: `${name} was acknowledged but is not in the log` };
  }
  if (operation.out === "refused" && evidence.byMessage.has(operation.msg_id)) {
    return { invariant: "3 refused means untouched", text: `${name} was refused and took effect` };
  }
  return null;
}

/**
 * Messages that may succeed without a change, because they are idempotent. check-refusals.ts and check-lamps.ts check
 * each such case.
 */
const MAY_CHANGE_NOTHING: ReadonlySet<string> = new Set(["remove", "close_window", "key_used", "switch_off"]);

type Note = { readonly action: string; readonly request_id: string | null } | null;

function auditProblem(step: StampedTransition, action: string | null, operation: Operation | undefined): string | null {
  const note = step.audit as Note;
  if (action === null) return note === null ? null : `it must not be audited, but has the audit note ${note.action}`;
  if (note === null) return `it has no audit note`;
  if (note.action !== action) return `its note says ${note.action}, not ${action}`;
  if (operation !== undefined && note.request_id !== operation.request_id) return `its note names another request`;
  return null;
}
