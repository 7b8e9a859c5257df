// INV-3b: a refusal, and a success that changed nothing, must be right for some state that the actor had between
// sending and answer. One that came from an old row is not.
import { CLAIM_CODE_TAKEN } from "../../actors/cn/transition.ts";
import { refKey } from "../../actors/engine/types.ts";
import { effectsOf, type Evidence, rowsDuring } from "./evidence.ts";
import type { Operation } from "./journal.ts";
import type { Violation } from "./violation.ts";

type Row = Readonly<Record<string, unknown>> | null;

export function checkRefusals(evidence: Evidence): readonly Violation[] {
  const found: Violation[] = [];
  for (const operation of evidence.journal.operations) {
    const { type } = operation.message;
    const about = refKey(operation.to);
    const rows = rowsDuring(evidence, about, operation);
    if (operation.out === "refused" && !mayRefuse(evidence, operation, rows)) {
      const text =
        `${type} (command ${operation.command}) was refused (${operation.fault?.message}) in no state that forbids it`;
      found.push({ invariant: "3b justified answer", about, text });
    }
    const nothing = operation.out === "ok" && effectsOf(evidence, operation).length === 0;
    const idle = rows.some(({ row }) => mayIgnore(operation, row?.state ?? null));
    if (nothing && !idle && !closedMeanwhile(evidence, operation)) {
      const text =
        `${type} (command ${operation.command}) changed nothing, though every state in between had something to change`;
      found.push({ invariant: "3b justified answer", about, text });
    }
  }
  return found;
}

function mayRefuse(evidence: Evidence, operation: Operation, rows: ReturnType<typeof rowsDuring>): boolean {
  const { message, fault, to } = operation;
  const some = (forbids: (row: Row, until_ms: number) => boolean) =>
    rows.some(({ row, until_ms }) => forbids(row?.state ?? null, until_ms));
  switch (`${to.kind} ${message.type}`) {
    case "cn register":
      return fault?.error_code === CLAIM_CODE_TAKEN.error_code && codeWasTaken(evidence, operation);
    case "cn approve": {
      if (fault?.kind === "conflict") return keyWasLive(evidence, operation);
      const wrong = (row: Row) => row?.["state"] !== "pending" || row["claim_code"] !== message["claim_code"];
      const expired = (row: Row, until_ms: number) => msOf(row?.["claim_code_expires_at"]) <= until_ms;
      return some((row, until_ms) => wrong(row) || expired(row, until_ms)) ||
        hadOtherCode(evidence, operation);
    }
    case "cn disable":
    case "cn set_role":
      return some((row) => row === null);
    case "cn remove":
      if (fault?.message.startsWith("instances are still placed")) return wasPlaced(evidence, operation);
      return some((row) => row?.["state"] === "approved");
    case "job claim":
      return some((row) => row === null || row["state"] !== "pending" || row["target_cn"] !== message["by"]);
    case "job complete":
    case "job fail":
      return some((row) => row === null || row["state"] !== "in_progress" || row["claimed_by"] !== message["by"]);
    case "saga abandon":
      return some((row) => row?.["state"] !== "running" || jobWasDone(evidence, operation, row["job_id"]));
    default:
      return false;
  }
}

/** A unit may hold several steps and writes one row: whether a step in between left the node with no such code. */
function hadOtherCode(evidence: Evidence, { to, message, sent, answered }: Operation): boolean {
  return (evidence.byActor.get(refKey(to)) ?? []).some((step) => {
    const during = step.applied.stamp > sent.stamp && step.applied.stamp < (answered?.stamp ?? Infinity);
    const code = evidence.operations.get(step.msg_id)?.message["claim_code"];
    return during && (step.to_state !== "pending" || (code !== undefined && code !== message["claim_code"]));
  });
}

/** The same for the window: a step in between closed it. */
function closedMeanwhile(evidence: Evidence, { to, message, sent, answered }: Operation): boolean {
  return message.type === "close_window" &&
    (evidence.byActor.get(refKey(to)) ?? []).some(({ applied, to_state }) =>
      applied.stamp > sent.stamp && applied.stamp < (answered?.stamp ?? Infinity) && to_state !== "window_open"
    );
}

function mayIgnore({ to, message }: Operation, row: Row): boolean {
  switch (`${to.kind} ${message.type}`) {
    case "cn remove":
      return row === null;
    case "site close_window":
      return row?.["state"] !== "window_open";
    case "cn key_used":
      return row === null || row["bound_api_key_id"] !== message["key_id"] || row["pending_credential"] === null;
    default:
      return false;
  }
}

function msOf(date: unknown): number {
  return date instanceof Date ? date.getTime() : Infinity;
}

function codeWasTaken(evidence: Evidence, operation: Operation): boolean {
  for (const key of evidence.journal.rows.keys()) {
    if (!key.startsWith("cn:") || key === refKey(operation.to)) continue;
    const had = rowsDuring(evidence, key, operation);
    if (had.some(({ row }) => row?.state?.["claim_code"] === operation.message["claim_code"])) return true;
  }
  return false;
}

function keyWasLive(evidence: Evidence, operation: Operation): boolean {
  const { id } = operation.message["key"] as { id: string };
  return rowsDuring(evidence, `api-key:${id}`, operation).some(({ row }) => row !== null);
}

/** Whoever gives up an operation whose job is done comes too late. */
function jobWasDone(evidence: Evidence, operation: Operation, job_id: unknown): boolean {
  return rowsDuring(evidence, `job:${job_id}`, operation).some(({ row }) => row?.state?.["state"] === "completed");
}

function wasPlaced(evidence: Evidence, operation: Operation): boolean {
  const end = operation.answered?.stamp ?? Infinity;
  let placed = false;
  for (const each of evidence.journal.placements) {
    if (each.at.stamp > end) break;
    if (each.node !== operation.to.id) continue;
    if (placed && each.at.stamp > operation.sent.stamp) return true;
    placed = each.placed;
  }
  return placed;
}
