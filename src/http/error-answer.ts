// Builds the 4xx and 5xx answers of the app, with the body {message, request_id, error_code?} (docs/wire.md, "Errors").
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

/** Answers with an error body and this request's id. The caller sees the message unchanged. */
export function errorAnswer<S extends ContentfulStatusCode>(c: Context<HttpEnv>, refusal: Refusal<S>): ErrorAnswer<S> {
  const { status, message, error_code, headers } = refusal;
  const body: ErrorBody = { message, request_id: c.get("requestId"), ...(error_code && { error_code }) };
  // The cast undoes hono's JSON mapping of optional members; the body is an ErrorBody.
  return c.json(body, status, headers) as unknown as ErrorAnswer<S>;
}

/** The answer to an internal error. Callers see no other text about the error. */
export const INTERNAL = { status: 500, message: "Internal Server Error", error_code: "Internal" } as const;

/** The answer when the database or a token issuer is not available. The request may have taken effect. */
export const UNAVAILABLE = {
  status: 503,
  message: "Service Unavailable",
  headers: { "retry-after": "1" },
} as const;
