// Builds the errors that the server sends without the app. They have the app's JSON error body, with a request id.
import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { ErrorBody } from "../contract/common.ts";

export type EdgeAnswer = { readonly status: number; readonly headers: Record<string, string>; readonly body: string };

/** Returns an error that also closes the connection, because the following bytes may not be a request. */
export function edgeAnswer(status: number, message: string, more: Record<string, string> = {}): EdgeAnswer {
  const request_id = randomUUID();
  const body = JSON.stringify({ message, request_id } satisfies ErrorBody);
  const headers = {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-request-id": request_id,
    connection: "close",
    ...more,
  };
  return { status, headers, body };
}

/** Returns an answer as the text of an HTTP response, for a socket without a response object of node:http. */
export function edgeText(answer: EdgeAnswer): string {
  const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ""}\r\n${lines}\r\n${answer.body}`;
}
