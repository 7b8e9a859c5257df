// One HTTP exchange with the control plane: a request with a time limit, an answer with its body read. No retries here.
import { retryAfterS } from "./backoff.ts";
import { EXIT } from "./exit-code.ts";
import { Failure } from "./failure.ts";
import type { Environment } from "./environment.ts";

export type Link = {
  readonly endpoint: string;
  readonly token: string | null;
  readonly user_agent: string;
  /** A token in place of one that the server no longer takes; null when there is no other. */
  readonly renew?: () => Promise<string | null>;
};
export type Query = Readonly<Record<string, string | number | undefined>>;
export type Call = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly limit_ms: number;
  /** The body of a success is text and not JSON. */
  readonly is_text?: boolean;
};
export type Answer = {
  readonly status: number;
  readonly body: unknown;
  readonly retry_after_s: number | null;
  /** The version of what was read, for If-Match. */
  readonly etag: string | null;
};

/** Nothing came back: refused, cut or too late. The request may have been carried out. */
export class Unreachable extends Failure {}

/** Throws Unreachable, or a Failure with exit code 130 when the world is aborted. */
export async function exchange(environment: Environment, link: Link, call: Call): Promise<Answer> {
  const limit = AbortSignal.timeout(call.limit_ms);
  try {
    const response = await environment.fetch(urlOf(link, call), {
      method: call.method,
      headers: {
        accept: call.is_text === true ? "text/plain" : "application/json",
        "user-agent": link.user_agent,
        ...(call.body === undefined ? {} : { "content-type": "application/json" }),
        ...(link.token === null ? {} : { authorization: `Bearer ${link.token}` }),
        ...call.headers,
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      // A credential must not follow a redirect to another place.
      redirect: "manual",
      signal: AbortSignal.any([environment.signal, limit]),
    });
    const text = await response.text();
    return answerOf(response, text, call);
  } catch (error) {
    if (environment.signal.aborted) throw new Failure("interrupted", EXIT.interrupted);
    if (error instanceof Failure) throw error;
    const why = limit.aborted ? `no answer within ${call.limit_ms / 1_000} s` : reason(error);
    throw new Unreachable(`cannot reach ${link.endpoint}: ${why}`, EXIT.unreachable);
  }
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
    const target = response.headers.get("location") ?? "another place";
    throw new Failure(`the server redirects to ${target}; set the endpoint to where it really is`, EXIT.failure, {
      status,
    });
  }
  const told = { status, retry_after_s, etag: response.headers.get("etag") };
  if (text === "") return { ...told, body: null };
  if (is_text === true && status < 300) return { ...told, body: text };
  try {
    return { ...told, body: JSON.parse(text) };
  } catch {
    if (status < 300) {
      throw new Failure("the answer is not JSON; is this the endpoint of a control plane?", EXIT.failure, { status });
    }
    return { ...told, body: null };
  }
}

/** The innermost cause says what happened; the outer message is "fetch failed" in some runtimes. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reason(error.cause) : error.message;
}
