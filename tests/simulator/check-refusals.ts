// INV-3b: a refusal, or a success without a change, must be right for some state between the request and the answer.
// The state is of the actor, or of another actor on which the decision depends. A decision from an older row is a
// violation.
import { CLAIM_CODE_TAKEN } from "../../actors/enrolment-claim/transition.ts";
import { refKey } from "../../actors/engine/types.ts";
import { CLAIMS_PER_NODE_MAX } from "../../src/contract/limits.ts";
import { effectsOf, type Evidence, rowsDuring } from "./evidence.ts";
import type { Moment, Operation } from "./journal.ts";
import type { Violation } from "./violation.ts";

type Row = Readonly<Record<string, unknown>> | null;

export function checkRefusals(evidence: Evidence): readonly Violation[] {
  const found: Violation[] = [];
  // check-lamps.ts checks lamps.
  for (const operation of evidence.journal.operations.filter(({ to }) => to.kind !== "lamp")) {
    const { type } = operation.message;
    const about = refKey(operation.to);
    const rows = rowsDuring(evidence, about, operation);
    if (operation.out === "refused" && !mayRefuse(evidence, operation, rows)) {
      const text =
        `${type} (command ${operation.command}) was refused (${operation.fault?.message}), but no state in between forbids it`;
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
    // check-window.ts checks refused joins.
    case "cn join":
      return true;
    case "cn refresh":
      return some((row) =>
        row?.["state"] !== "approved" ||
        row["poll_token_sha256"] !== (message["proof"] as Record<string, unknown>)["poll_token_sha256"]
      );
    case "enrolment-claim register":
      if (fault?.kind === "too_many_requests") return nodeWasFull(evidence, operation);
      return fault?.error_code === CLAIM_CODE_TAKEN.error_code && codeWasTaken(evidence, operation);
    case "enrolment-claim renew":
      if (fault?.error_code === CLAIM_CODE_TAKEN.error_code) return codeWasTaken(evidence, operation);
      return some((row, until_ms) =>
        row === null || row["poll_token_sha256"] !== message["proof_sha256"] || msOf(row["expires_at"]) <= until_ms
      );
    case "cn approve": {
      if (fault?.kind === "conflict") return keyWasLive(evidence, operation);
      const claim = `enrolment-claim:${(message["claim"] as Record<string, unknown>)["id"]}`;
      const ended = rowsDuring(evidence, claim, operation).some(({ row, until_ms }) =>
        row?.state?.["claim_code"] !== message["claim_code"] || msOf(row?.state?.["expires_at"]) <= until_ms
      );
      return ended || some((row) => row?.["state"] !== "pending" && row?.["state"] !== "approved");
    }
    case "cn disable":
    case "cn set_role":
      return some((row) => row === null);
    case "cn enable":
      return some((row) =>
        row === null || row["state"] === "pending" || row["state"] === "disabled" && row["bound_api_key_id"] === null
      );
    case "cn remove":
      if (fault?.message.startsWith("instances are still placed")) return wasPlaced(evidence, operation);
      return some((row) => row?.["state"] === "approved") ||
        passed(evidence, operation, (state) => state === "approved");
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

/** Returns whether a step during the operation closed the window. */
function closedMeanwhile(evidence: Evidence, operation: Operation): boolean {
  return operation.message.type === "close_window" && passed(evidence, operation, (state) => state !== "window_open");
}

/**
 * Returns whether the actor entered, during the operation, a state for which `isSuch` returns true. Reads the
 * transitions, because no row has a state in the middle of a unit: a unit writes one row for all its steps.
 */
function passed(
  evidence: Evidence,
  { to, sent, answered }: Operation,
  isSuch: (to_state: string) => boolean,
): boolean {
  return (evidence.byActor.get(refKey(to)) ?? []).some(({ applied, to_state }) =>
    applied.stamp > sent.stamp && applied.stamp < (answered?.stamp ?? Infinity) && isSuch(to_state)
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
  return claimsDuring(evidence, operation).some(([key, state]) =>
    key !== refKey(operation.to) && state["claim_code"] === operation.message["claim_code"]
  );
}

/**
 * Returns whether the node had the maximum number of claims at one moment of the operation. A commit call counts as one
 * moment: the call may make claims and end other claims, in any order.
 */
function nodeWasFull(evidence: Evidence, operation: Operation): boolean {
  const { sent, answered, message } = operation;
  const end = answered?.stamp ?? Infinity;
  const moments = evidence.journal.calls.map(({ at }) => at).filter(({ stamp }) => stamp > sent.stamp && stamp < end);
  return [sent, ...moments].some((at) => claimsAt(evidence, message["server_uuid"], at).size >= CLAIMS_PER_NODE_MAX);
}

/** Returns the live claims that a node had just before or just after a call, and the claims that the call made. */
function claimsAt(evidence: Evidence, server_uuid: unknown, { stamp, ms }: Moment): ReadonlySet<string> {
  const isLive = (state: Readonly<Record<string, unknown>> | null | undefined) =>
    state?.["server_uuid"] === server_uuid && msOf(state?.["expires_at"]) > ms;
  const rows = [...evidence.journal.rows].filter(([key, versions]) => {
    if (!key.startsWith("enrolment-claim:")) return false;
    const before = versions.findLast(({ since }) => since.stamp < stamp);
    const after = versions.find(({ since }) => since.stamp === stamp);
    return [before, after].some((version) => isLive(version?.row?.state));
  });
  const made = evidence.journal.operations.filter((each) =>
    each.to.kind === "enrolment-claim" && each.message["server_uuid"] === server_uuid &&
    effectsOf(evidence, each).some(({ event, applied }) => event === "register" && applied.stamp === stamp)
  );
  return new Set([...rows.map(([key]) => key), ...made.map(({ to }) => refKey(to))]);
}

/** Returns every state that any claim had during the operation, with the claim's key. */
function claimsDuring(evidence: Evidence, operation: Operation) {
  const seen = [...evidence.journal.rows.keys()].filter((key) => key.startsWith("enrolment-claim:")).flatMap((key) =>
    rowsDuring(evidence, key, operation).flatMap(({ row }) => row?.state == null ? [] : [[key, row.state] as const])
  );
  return [...seen, ...claimsMadeDuring(evidence, operation)];
}

/**
 * Returns the claims that were registered during the operation. One commit call may make a claim and end it, and then
 * no row shows the claim.
 */
function claimsMadeDuring(evidence: Evidence, { sent, answered }: Operation) {
  const isDuring = (stamp: number) => stamp > sent.stamp && stamp < (answered?.stamp ?? Infinity);
  return evidence.journal.operations
    .filter((other) => other.to.kind === "enrolment-claim" && other.message.type === "register")
    .filter((other) => effectsOf(evidence, other).some(({ applied }) => isDuring(applied.stamp)))
    .map((other): readonly [string, Readonly<Record<string, unknown>>] => [refKey(other.to), other.message]);
}

function keyWasLive(evidence: Evidence, operation: Operation): boolean {
  const { id } = operation.message["key"] as { id: string };
  return rowsDuring(evidence, `api-key:${id}`, operation).some(({ row }) => row !== null);
}

/** Returns whether the saga's job was completed during the operation. Such a saga cannot be abandoned. */
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
