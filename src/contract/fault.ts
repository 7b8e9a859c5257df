// A Fault is an expected failure, carried as a value with the exact text the caller will read. What is thrown is a bug
// or broken infrastructure. This file imports types only.
import type { ErrorCode } from "./error-codes.ts";

/** What kind of expected failure it is. One table (src/http/fault-status.ts) maps each to its HTTP status. */
export type FaultKind =
  | "bad_request" // 400
  | "unauthenticated" // 401
  | "forbidden" // 403
  | "not_found" // 404
  | "method_not_allowed" // 405
  | "conflict" // 409
  | "precondition_failed" // 412
  | "payload_too_large" // 413
  | "unsupported_media_type" // 415
  | "unprocessable" // 422
  | "too_many_requests" // 429
  | "node_failed" // 502
  | "unavailable"; // 503

/** An expected failure, as it is stored, sent and read. */
export type Fault = {
  readonly kind: FaultKind;
  /** Shown to the caller verbatim. Never holds a secret. */
  readonly message: string;
  /** Document 4, 0.2. Absent when the specification names none. */
  readonly error_code?: ErrorCode;
  /** Whole seconds, at least 1: becomes Retry-After. */
  readonly retry_after_s?: number;
};

/** Builds a Fault. Throws nothing. */
export function fault(
  kind: FaultKind,
  message: string,
  extra: { error_code?: ErrorCode; retry_after_s?: number } = {},
): Fault {
  return { kind, message, ...extra };
}

/** Document 4, 0.2 NotFound: missing, invisible and foreign look the same. */
export const NOT_FOUND: Fault = { kind: "not_found", message: "Not Found", error_code: "NotFound" };

/** Document 4, 0.2 Conflict: a state or a uniqueness rule forbids it. */
export function conflict(message: string): Fault {
  return { kind: "conflict", message, error_code: "Conflict" };
}

/** Document 4, 0.2 BadRequest: a value rule of the body is broken. */
export function badRequest(message: string): Fault {
  return { kind: "bad_request", message, error_code: "BadRequest" };
}

/** The boot policy changed between the look at it and the commit. Routes look again and send again; nobody reads it. */
export const POLICY_CHANGED: Fault = conflictAs("PolicyChanged", "the boot policy changed; try again");

/** Document 3, Errors: no node can take the instance. */
export const NO_ELIGIBLE_NODE: Fault = fault(
  "unavailable",
  "no eligible compute node for placement; capacity, traits, affinity, or scope pinning rejected every candidate",
);

/** Document 4, 0.2: the nodes that were picked filled up before the commit. Routes pick again, as long as any node is left. */
export const CAPACITY_EXHAUSTED: Fault = { ...NO_ELIGIBLE_NODE, error_code: "CapacityExhausted" };

function conflictAs(error_code: ErrorCode, message: string): Fault {
  return { kind: "conflict", message, error_code };
}

/** Whether a value that may be a Fault is one. */
export function isFault(value: object): value is Fault {
  return "kind" in value && "message" in value;
}
