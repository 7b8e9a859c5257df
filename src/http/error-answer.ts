// The one shape of every 4xx and 5xx body: {message, request_id, error_code?}. Document 4, 0.1.
import type { Context, TypedResponse } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { ErrorBody } from "../contract/common.ts";
import type { ErrorCode } from "../contract/error-codes.ts";
import type { HttpEnv } from "./env.ts";

export type Refusal<S extends ContentfulStatusCode = ContentfulStatusCode> = {
  readonly status: S;
  readonly message: string;
  readonly error_code?: ErrorCode;
  readonly headers?: Readonly<Record<string, string>>;
};

export type ErrorAnswer<S extends ContentfulStatusCode> = Response & TypedResponse<ErrorBody, S, "json">;

/** Answers with an error body under this request's id. The message is shown to the caller as it is. */
export function errorAnswer<S extends ContentfulStatusCode>(c: Context<HttpEnv>, refusal: Refusal<S>): ErrorAnswer<S> {
  const { status, message, error_code, headers } = refusal;
  const body: ErrorBody = { message, request_id: c.get("requestId"), ...(error_code && { error_code }) };
  // The cast drops what JSON typing adds (it maps optional members); the body is exactly an ErrorBody.
  return c.json(body, status, headers) as unknown as ErrorAnswer<S>;
}

/** Document 4, 0.1: whatever went wrong inside, the caller reads only this. */
export const INTERNAL = { status: 500, message: "Internal Server Error", error_code: "Internal" } as const;

/** Document 4, 0.1: the database does not answer; nobody can tell whether the request had an effect. */
export const UNAVAILABLE = {
  status: 503,
  message: "Service Unavailable",
  headers: { "retry-after": "1" },
} as const;
