// An operator's client that writes down what it sent and what it heard, so that a history can be checked afterwards.
import { ROOT_KEY } from "../support/server-process.ts";

/** One try of an operation. `status` is null when no answer came. Times are those of performance.now(). */
export type Attempt = {
  readonly url: string;
  readonly request_id: string;
  readonly status: number | null;
  readonly began_ms: number;
  readonly took_ms: number;
};

/** What a client wants, and the transition that it is when it is done: of which kind of actor, and which event. */
export type Wish = {
  readonly kind: "cn" | "enrolment-claim" | "silo" | "tenant" | "project" | "vpc";
  readonly event: "register" | "approve" | "set_role" | "disable" | "create" | "update" | "delete";
  /** POST unless it says otherwise. */
  readonly method?: "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
};

export type Operation = Omit<Wish, "method"> & {
  readonly method: "POST" | "PATCH" | "DELETE";
  /** Registrations have none: each attempt is a registration of its own. */
  readonly idempotency_key: string | null;
  readonly attempts: Attempt[];
  /** What the client knows in the end. */
  outcome: "acknowledged" | "refused" | "unknown";
  answer: unknown;
};

export type Answer = { readonly status: number | null; readonly body: unknown; readonly request_id: string };

/** reliability.md 3.1: no request may hang. How fast it is on a busy machine is not asked. */
export const REQUEST_LIMIT_MS = 60_000;
const RETRY_MS = 25;

export type Call = {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly key?: string;
  readonly idempotency_key?: string;
};

/** One request; every answer is a value, and so is its absence. */
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

/** Text that is no JSON stays as it is, for the failure message of whoever expected something else. */
function jsonOf(text: string): unknown {
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The body of a 2xx answer. For the parts of a test in which nothing is being broken. */
export async function must<T>(url: string, call: Call): Promise<T> {
  const { status, body } = await request(url, call);
  if (status === null || status >= 300) {
    throw new Error(`${call.method} ${call.path}: ${status} ${JSON.stringify(body)}`);
  }
  return body as T;
}

/** Repeats the wish, each time at any of the servers, until an answer tells its outcome or `go_on` says to stop. */
export async function carryOut(wish: Wish, urls: () => readonly string[], go_on: () => boolean): Promise<Operation> {
  const idempotency_key = wish.event === "register" ? null : crypto.randomUUID();
  const operation: Operation = {
    method: "POST",
    ...wish,
    idempotency_key,
    attempts: [],
    outcome: "unknown",
    answer: null,
  };
  await carryOn(operation, urls, go_on);
  return operation;
}

/** Goes on with an operation whose outcome is unknown, under the key that it began with. */
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

/** The request that carries an operation out, the same each time. */
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
