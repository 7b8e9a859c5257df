// Runs one HTTP exchange with the control plane, with a time limit and without retries.
import { retryAfterS } from "./backoff.ts";
import { EXIT } from "./exit-code.ts";
import { Failure } from "./failure.ts";
import type { Environment } from "./environment.ts";
import { noteServerTime } from "./server-clock.ts";
import { networkReason } from "./network-reason.ts";

export type Link = {
  readonly endpoint: string;
  readonly token: string | null;
  readonly user_agent: string;
  /** Returns a new token after a 401; null if the credential cannot be renewed. */
  readonly renew?: () => Promise<string | null>;
};
export type Query = Readonly<Record<string, string | number | undefined>>;
export type Call = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  /** A body that is not JSON. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly limit_ms: number;
  /** True if the body of a 2xx answer is text, not JSON. */
  readonly is_text?: boolean;
  /** True if the body of a 2xx answer is bytes: a Uint8Array. */
  readonly is_bytes?: boolean;
};
export type Answer = {
  readonly status: number;
  readonly body: unknown;
  readonly retry_after_s: number | null;
  /** The record's version, for If-Match. */
  readonly etag: string | null;
  /** Whether the server has fulfilled the request's preference (RFC 7240). */
  readonly is_preference_applied?: boolean;
};

/**
 * The caller may try again: the connection was refused or lost, the time was up, or an image server has a temporary
 * problem. The server may have processed the request.
 */
export class Unreachable extends Failure {}

/**
 * Returns the response. Throws Unreachable if there is no response. Throws a Failure for a redirect. If the call
 * expects JSON, also throws a Failure for a 2xx response whose text is not JSON. If the environment was aborted, the
 * Failure has exit code 130.
 */
export async function exchange(environment: Environment, link: Link, call: Call): Promise<Answer> {
  const limit = AbortSignal.timeout(call.limit_ms);
  try {
    const response = await environment.fetch(urlOf(link, call), {
      method: call.method,
      headers: {
        accept: acceptOf(call),
        "user-agent": link.user_agent,
        ...(call.body === undefined ? {} : { "content-type": "application/json" }),
        ...(call.bytes === undefined ? {} : { "content-type": "application/octet-stream" }),
        ...(link.token === null ? {} : { authorization: `Bearer ${link.token}` }),
        ...call.headers,
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      ...(call.bytes === undefined ? {} : { body: call.bytes }),
      // A credential must not follow a redirect to another server.
      redirect: "manual",
      signal: AbortSignal.any([environment.signal, limit]),
    });
    noteServerTime(environment, response.headers.get("date"));
    if (call.is_bytes === true && response.ok) {
      const { status } = response;
      return { status, retry_after_s: null, etag: null, body: new Uint8Array(await response.arrayBuffer()) };
    }
    const text = await response.text();
    return answerOf(response, text, call);
  } catch (error) {
    if (environment.signal.aborted) throw new Failure("interrupted", EXIT.interrupted);
    if (error instanceof Failure) throw error;
    const why = limit.aborted ? `no answer within ${call.limit_ms / 1_000} s` : networkReason(error);
    const is_uncertain = call.method !== "GET" && !NOT_SENT.test(why);
    throw new Unreachable(`cannot reach ${link.endpoint}: ${why}`, EXIT.unreachable, { is_uncertain });
  }
}

function acceptOf({ is_text, is_bytes }: Call): string {
  // An error answer is always JSON, whatever this header accepts.
  if (is_bytes === true) return "*/*";
  return is_text === true ? "text/plain" : "application/json";
}

function urlOf(link: Link, call: Call): string {
  const url = new URL(link.endpoint + call.path);
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url.href;
}

function answerOf(response: Response, text: string, { is_text }: Call): Answer {
  const { status } = response;
  const retry_after_s = retryAfterS(response.headers.get("retry-after"));
  if (status >= 300 && status < 400) {
    const target = response.headers.get("location") ?? "another address";
    throw new Failure(`the server redirects to ${target}; set the endpoint to the final address`, EXIT.failure, {
      status,
    });
  }
  const is_preference_applied = response.headers.has("preference-applied");
  const head = { status, retry_after_s, etag: response.headers.get("etag"), is_preference_applied };
  if (text === "") return { ...head, body: null };
  if (is_text === true && status < 300) return { ...head, body: text };
  try {
    return { ...head, body: JSON.parse(text) };
  } catch {
    if (status < 300) {
      throw new Failure("the response is not JSON; check that the endpoint is a control plane", EXIT.failure, {
        status,
      });
    }
    return { ...head, body: null };
  }
}

/** Reasons that prove that the request did not reach the server. */
const NOT_SENT = /^(?:connection refused|the host name is not known)$|certificate|handshake/i;
