// INV-1 and INV-3b: checks the answers to bursts. A burst is many messages that clients send to one lamp at once
// (tests/engine/probe.ts). A message with a guard succeeds only if this guard allows it, and the answer contains the
// note of this message. No answer shows a placeholder instead of the value that the commit allocated. The budget's
// remaining amount equals its initial amount minus the draws and plus the refunds in the stored answers.
import { NO_CURRENT } from "../engine/probe.ts";
import { type Fault, type Message, refKey } from "../../actors/engine/types.ts";
import type { Counters } from "./counters.ts";
import { CURRENT } from "./environment.ts";
import { effectsOf, type Evidence } from "./evidence.ts";
import type { Operation } from "./journal.ts";
import type { Violation } from "./violation.ts";

type Reply = Readonly<Record<string, unknown>> | null;

export function checkLamps(evidence: Evidence, counters: Counters): readonly Violation[] {
  const lamps = evidence.journal.operations.filter(({ to }) => to.kind === "lamp");
  counters.take_refused += lamps.filter(({ fault }) => fault?.message === NO_CURRENT.message).length;
  const found = lamps.flatMap((operation): Violation[] => {
    const text = answerProblem(operation) ?? refusalProblem(evidence, operation);
    const name = `${operation.message.type} (command ${operation.command})`;
    return text === null
      ? []
      : [{ invariant: "3b justified answer", about: operation.to.id, text: `${name}: ${text}` }];
  });
  const left = CURRENT + lamps.reduce((sum, operation) => sum + givenBy(evidence, operation), 0);
  const remaining = evidence.tables.budgets.get("current")?.remaining ?? null;
  if (remaining === left && left >= 0) return found;
  const text = `the budget's remaining amount is ${remaining}, but by the stored answers it must be ${left}`;
  return [...found, { invariant: "1 acknowledged means durable", about: "budget current", text }];
}

function answerProblem({ message, out, reply, fault }: Operation): string | null {
  const shown = reply as Reply;
  if (String(shown?.["address"] ?? "").startsWith("token")) return `its answer shows ${shown?.["address"]}`;
  if (message.type === "guarded" && out === "ok") {
    if (message["allow"] === false) return "its guard forbids it, but it succeeded";
    if (shown?.["note"] !== message["note"]) return `it got the answer to ${shown?.["note"]}`;
  }
  if (message.type === "guarded" && out === "refused" && fault?.kind === "conflict") {
    if (fault.message !== `the guard forbids ${message["note"]}`) return `its refusal says: ${fault.message}`;
  }
  if (message.type === "draw" && out === "ok") {
    const allowed = message["fall_back"] === true ? [0, message["amount"]] : [message["amount"]];
    if (!allowed.includes(shown?.["drawn"])) return `it drew ${shown?.["drawn"]}`;
  }
  return null;
}

/** Returns null if a state of the lamp during the operation justifies the answer. Otherwise describes the answer. */
function refusalProblem(evidence: Evidence, operation: Operation): string | null {
  const { message, out, fault } = operation;
  const states = statesDuring(evidence, operation);
  if (out === "refused" && !mayRefuse(message, fault, states)) {
    return `it was refused (${fault?.message}), but the lamp was only ${[...states].join(", ")}`;
  }
  const nothing = out === "ok" && effectsOf(evidence, operation).length === 0;
  if (!nothing || (message.type === "switch_off" && states.has("off"))) return null;
  return `it changed nothing, but the lamp was only ${[...states].join(", ")}`;
}

function mayRefuse({ type, ...given }: Message, fault: Fault | null, states: ReadonlySet<string>): boolean {
  if (fault?.kind === "not_found") return type !== "make" && states.has("absent");
  switch (type) {
    case "make":
      return states.has("on") || states.has("off");
    case "switch_on":
    case "smash":
      return states.has("on");
    case "guarded":
      return given["allow"] === false;
    case "draw":
      return fault?.message === NO_CURRENT.message && given["fall_back"] === false;
    default:
      return false;
  }
}

/**
 * Returns the states that a lamp had during an operation. Reads the transitions: a unit that applies several messages
 * writes the actor's row only once.
 */
function statesDuring(evidence: Evidence, operation: Operation): ReadonlySet<string> {
  const end = operation.answered?.stamp ?? Infinity;
  const steps = evidence.byActor.get(refKey(operation.to)) ?? [];
  const before = steps.filter(({ applied }) => applied.stamp < operation.sent.stamp).at(-1)?.to_state ?? "absent";
  const during = steps.filter(({ applied }) => applied.stamp > operation.sent.stamp && applied.stamp < end);
  return new Set([before, ...during.map(({ to_state }) => to_state)]);
}

/**
 * Returns the amount that an operation added to the budget, according to its stored answer. A draw has a negative
 * amount.
 */
function givenBy(evidence: Evidence, { message, msg_id }: Operation): number {
  const stored = evidence.tables.seen.get(msg_id);
  if (stored === undefined || !("ok" in stored)) return 0;
  if (message.type === "refund") return Number(message["amount"]);
  return message.type === "draw" ? -Number((stored.ok as Reply)?.["drawn"]) : 0;
}
