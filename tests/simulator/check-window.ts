// INV-14, at the very moment each registration took effect: inside an open window with room a new node is approved,
// outside it is not; no window approves more than its count, and none after its end by the database's clock.
import { AUTO_APPROVE_SECS_MAX } from "../../src/contract/limits.ts";
import type { Counters } from "./counters.ts";
import { actorKey, type Evidence } from "./evidence.ts";
import type { Violation } from "./violation.ts";

type Window = { readonly count: number | null; readonly expires_ms: number; used: number };

export function checkWindow(evidence: Evidence, counters: Counters): readonly Violation[] {
  const found: Violation[] = [];
  let window: Window | null = null;
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
    }
    if (step.actor_kind !== "cn" || step.event !== "register" || step.from_state !== "absent") continue;
    const expired: boolean = window !== null && step.applied.ms >= window.expires_ms;
    const spent: boolean = window !== null && window.count !== null && window.used >= window.count;
    if (expired) counters.window_expired_unclosed += 1;
    if (spent) counters.window_exhausted += 1;
    if (step.to_state === "approved") {
      if (window === null) say("approved without a window");
      else {
        if (expired) say("approved after the window's end");
        if (spent) say(`approved beyond the ${window.count} of the window`);
        window.used += 1;
        counters.window_approved += 1;
      }
    } else if (window !== null && !expired && !spent) say("left pending though the window had room");
  }
  return found;
}
