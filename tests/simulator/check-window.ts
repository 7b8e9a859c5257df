// INV-14: a new node that registers is approved if an auto-approve window with room is open when the registration takes
// effect, and not otherwise. No window approves more nodes than its count. No window approves a node after its end, by
// the database's clock.
import { refKey } from "../../actors/engine/types.ts";
import { AUTO_APPROVE_SECS_MAX } from "../../src/contract/limits.ts";
import type { Counters } from "./counters.ts";
import { actorKey, type Evidence, rowsDuring } from "./evidence.ts";
import type { Operation } from "./journal.ts";
import type { Violation } from "./violation.ts";

type Window = { readonly count: number | null; readonly expires_ms: number; readonly used: number };
/** The site's window from this moment on; null when none is open. */
type Since = { readonly stamp: number; readonly window: Window | null };

export function checkWindow(evidence: Evidence, counters: Counters): readonly Violation[] {
  const found: Violation[] = [];
  let window = null as Window | null;
  const history: Since[] = [{ stamp: 0, window }];
  for (const step of evidence.journal.transitions) {
    const say = (text: string) => found.push({ invariant: "14 auto-approve window", about: actorKey(step), text });
    if (step.actor_kind === "site") {
      const message = evidence.operations.get(step.msg_id)?.message;
      const early = step.event === "tick" && window !== null && step.at.getTime() < window.expires_ms;
      if (early) say("closed before its time");
      const secs = Math.min(Number(message?.["duration_secs"]), AUTO_APPROVE_SECS_MAX);
      window = step.event === "open_window"
        ? { count: message?.["count"] as number | null, expires_ms: step.at.getTime() + secs * 1_000, used: 0 }
        : null;
    } else if (step.actor_kind === "cn" && step.event === "join") {
      if (window === null) say("approved without a window");
      else {
        if (step.applied.ms >= window.expires_ms) say("approved after the window's end");
        if (isSpent(window)) say(`approved beyond the ${window.count} of the window`);
        window = { ...window, used: window.used + 1 };
        counters.window_approved += 1;
      }
    } else continue;
    history.push({ stamp: step.applied.stamp, window });
  }
  for (const operation of evidence.journal.operations) {
    if (operation.message.type === "join" && operation.out === "refused") {
      const text = refusalProblem(evidence, { operation, history, counters });
      if (text !== null) found.push({ invariant: "14 auto-approve window", about: refKey(operation.to), text });
    }
  }
  return found;
}

function isSpent({ count, used }: Window): boolean {
  return count !== null && used >= count;
}

type Refused = { readonly operation: Operation; readonly history: readonly Since[]; readonly counters: Counters };

/**
 * Checks that a join was refused for a reason: during the join, the node had a record, or no window with room was open.
 */
function refusalProblem(evidence: Evidence, { operation, history, counters }: Refused): string | null {
  const end = operation.answered ?? { stamp: Infinity, ms: Infinity };
  const during = history.filter(({ stamp }, index) =>
    stamp <= end.stamp && (history[index + 1]?.stamp ?? Infinity) >= operation.sent.stamp
  ).map(({ window }) => window);
  const expired = during.some((window) => window !== null && window.expires_ms <= end.ms);
  const spent = during.some((window) => window !== null && isSpent(window));
  if (expired) counters.window_expired_unclosed += 1;
  if (spent) counters.window_exhausted += 1;
  if (expired || spent || during.includes(null)) return null;
  const known = rowsDuring(evidence, refKey(operation.to), operation).some(({ row }) => row !== null);
  return known ? null : `join (command ${operation.command}) was refused though the window had room`;
}
