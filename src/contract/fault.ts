// A Fault is an expected failure: a value with the exact text for the caller. Thrown errors are bugs or broken
// infrastructure. This file imports types only.
import type { ErrorCode } from "./error-codes.ts";

/** The kind of failure. src/http/fault-status.ts maps each kind to its HTTP status. */
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

/** An expected failure, in the form in which it is stored and sent. */
export type Fault = {
  readonly kind: FaultKind;
  /** Shown to the caller unchanged. Never contains a secret. */
  readonly message: string;
  /** Absent if the failure has no code. */
  readonly error_code?: ErrorCode;
  /** Seconds after which the caller may retry: a whole number, at least 1. Becomes Retry-After. */
  readonly retry_after_s?: number;
};

/** Builds a Fault. */
export function fault(
  kind: FaultKind,
  message: string,
  extra: { error_code?: ErrorCode; retry_after_s?: number } = {},
): Fault {
  return { kind, message, ...extra };
}

/** The fault for an object that does not exist. An object that the caller may not see gets the same fault. */
export const NOT_FOUND: Fault = { kind: "not_found", message: "Not Found", error_code: "NotFound" };

/** Returns the fault for a conflict with the current state or a uniqueness rule. */
export function conflict(message: string): Fault {
  return { kind: "conflict", message, error_code: "Conflict" };
}

/** Returns the fault for a value that breaks a rule. */
export function badRequest(message: string): Fault {
  return { kind: "bad_request", message, error_code: "BadRequest" };
}

/** The boot policy changed between the read and the commit. Routes retry, so callers rarely see this fault. */
export const POLICY_CHANGED: Fault = conflictAs("PolicyChanged", "the boot policy changed; try again");

/** The firewall rules of a VPC changed between the read and the commit. The route retries. */
export const FIREWALL_RULES_CHANGED: Fault = conflictAs(
  "FirewallRulesChanged",
  "the firewall rules of the vpc changed; try again",
);

/** The fault for a placement in which the filters rejected every node. */
export const NO_ELIGIBLE_NODE: Fault = fault(
  "unavailable",
  "no eligible compute node for placement; capacity, traits, affinity, or scope pinning rejected every candidate",
);

/** All candidate nodes filled up before the commit. The route picks other candidates while other nodes remain. */
export const CAPACITY_EXHAUSTED: Fault = { ...NO_ELIGIBLE_NODE, error_code: "CapacityExhausted" };

function conflictAs(error_code: ErrorCode, message: string): Fault {
  return { kind: "conflict", message, error_code };
}

/** Returns whether a value is a Fault. */
export function isFault(value: object): value is Fault {
  return "kind" in value && "message" in value;
}
