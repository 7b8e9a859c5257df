// Sends requests. Records each operation with its attempts and replies, so that the history can be checked afterwards.
import { ROOT_KEY } from "../support/server-process.ts";

/**
 * One attempt to send an operation's request. `status` is null if there was no reply. Times are from performance.now().
 */
export type Attempt = {
  readonly url: string;
  readonly request_id: string;
  readonly status: number | null;
  readonly began_ms: number;
  readonly took_ms: number;
};

/** A request, and the transition that is written if it succeeds: the kind of the actor and the event. */
export type Intent = {
  readonly kind: "cn" | "enrolment-claim" | "silo" | "tenant" | "project" | "vpc";
  readonly event: "register" | "approve" | "set_role" | "disable" | "create" | "update" | "delete";
  /** Default: POST. */
  readonly method?: "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
};

export type Operation = Omit<Intent, "method"> & {
  readonly method: "POST" | "PATCH" | "DELETE";
  /** Null for registrations, because each attempt is a separate registration. */
  readonly idempotency_key: string | null;
  readonly attempts: Attempt[];
  /** The outcome as far as the client knows. */
  outcome: "acknowledged" | "refused" | "unknown";
  answer: unknown;
};

export type Answer = { readonly status: number | null; readonly body: unknown; readonly request_id: string };

/**
 * A request that takes longer counts as hanging, which is a failure (docs/reliability.md, "Promises"). The limit is
 * long, so that no test fails on a busy machine.
 */
export const REQUEST_LIMIT_MS = 60_000;
const RETRY_MS = 25;

export type Call = {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Default: the root key. An empty text means no credential. */
  readonly key?: string;
  readonly idempotency_key?: string;
};

/** Sends one request. Never throws: returns a reply with any status, or the status null if there was no reply. */
export async function request(url: string, call: Call): Promise<Answer> {
  const request_id = crypto.randomUUID();
  const headers: Record<string, string> = { "x-request-id": request_id };
  if (call.key !== "") headers["authorization"] = `Bearer ${call.key ?? ROOT_KEY}`;
  if (call.idempotency_key !== undefined) headers["idempotency-key"] = call.idempotency_key;
  if (call.body !== undefined) headers["content-type"] = "application/json";
  try {
    const response = await fetch(url + call.path, {
      method: call.method,
      headers,
      body: call.body === undefined ? undefined : JSON.stringify(call.body),
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    const text = await response.text();
    return { status: response.status, body: jsonOf(text), request_id };
  } catch {
    return { status: null, body: null, request_id };
  }
}

/** Parses a body. Returns text that is not JSON unchanged, so that the test's failure message shows it. */
function jsonOf(text: string): unknown {
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Sends a request and returns the body of its 2xx reply. Throws for any other reply, and if there is no reply. Tests
 * call this function while they cause no faults.
 */
export async function must<T>(url: string, call: Call): Promise<T> {
  const { status, body } = await request(url, call);
  if (status === null || status >= 300) {
    throw new Error(`${call.method} ${call.path}: ${status} ${JSON.stringify(body)}`);
  }
  return body as T;
}

/** Creates an operation and sends its request as carryOn does. */
export async function carryOut(
  intent: Intent,
  urls: () => readonly string[],
  go_on: () => boolean,
): Promise<Operation> {
  const idempotency_key = intent.event === "register" ? null : crypto.randomUUID();
  const operation: Operation = {
    method: "POST",
    ...intent,
    idempotency_key,
    attempts: [],
    outcome: "unknown",
    answer: null,
  };
  await carryOn(operation, urls, go_on);
  return operation;
}

/**
 * Sends the request of an operation, with the operation's Idempotency-Key if it has one. Repeats the request at random
 * servers until the outcome is known or `go_on` returns false.
 */
export async function carryOn(
  operation: Operation,
  urls: () => readonly string[],
  go_on: () => boolean,
): Promise<void> {
  for (;;) {
    const known = urls();
    const url = known[Math.floor(Math.random() * known.length)];
    if (url !== undefined) await attempt(operation, url);
    if (operation.outcome !== "unknown" || !go_on()) return;
    await new Promise((wake) => setTimeout(wake, RETRY_MS));
  }
}

/** Returns the request of an operation. Every attempt sends the same request. */
export function callOf({ method, path, body, idempotency_key }: Operation): Call {
  return idempotency_key === null ? { method, path, body, key: "" } : { method, path, body, idempotency_key };
}

async function attempt(operation: Operation, url: string): Promise<void> {
  const began_ms = performance.now();
  const { status, request_id, body } = await request(url, callOf(operation));
  operation.attempts.push({ url, request_id, status, began_ms, took_ms: performance.now() - began_ms });
  operation.answer = body;
  if (status === null || status >= 500 || status === 429) return;
  operation.outcome = status < 300 ? "acknowledged" : "refused";
}
