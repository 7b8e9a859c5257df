// Maps each kind of Fault to its HTTP status.
import type { Context } from "hono";
import type { Fault, FaultKind } from "../contract/fault.ts";
import type { HttpEnv } from "./env.ts";
import { type ErrorAnswer, errorAnswer } from "./error-answer.ts";

export const FAULT_STATUS = {
  bad_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  too_many_requests: 429,
  node_failed: 502,
  unavailable: 503,
} as const satisfies Record<FaultKind, number>;

export type FaultStatus = (typeof FAULT_STATUS)[FaultKind];

/** Answers with the fault's own message. Adds the headers Retry-After and WWW-Authenticate where they apply. */
export function faultResponse(c: Context<HttpEnv>, fault: Fault): ErrorAnswer<FaultStatus> {
  const headers: Record<string, string> = {};
  if (fault.retry_after_s !== undefined) headers["retry-after"] = String(Math.max(1, Math.ceil(fault.retry_after_s)));
  if (fault.kind === "unauthenticated") headers["www-authenticate"] = "Bearer";
  const { message, error_code } = fault;
  return errorAnswer(c, { status: FAULT_STATUS[fault.kind], message, error_code, headers });
}
