// Sends the requests that transfer images to or from the control plane. Their bodies and answers are bytes or JSON.
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import { type Agent, REQUEST_LIMIT_MS, rest } from "./agent.ts";

const TRIES_MAX = 5;

export type ByteRequest = {
  /** Text at the start of a Failure's message. */
  readonly what: string;
  readonly path: string;
  readonly api_key: string | null;
  /** `body` is JSON or bytes. Default: GET without a body. */
  readonly method?: "POST" | "PUT";
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly limit_ms?: number;
};

/**
 * Sends a request and returns the answer, whose status is 200. Repeats the request after a network error, a 429 or a
 * 5xx, up to TRIES_MAX requests in all. After the last attempt or any other status, throws a Failure with the server's
 * message or the last error.
 */
export async function askForBytes(agent: Agent, request: ByteRequest): Promise<Response> {
  const { environment, link } = agent;
  const { what, path, api_key, method = "GET", body, limit_ms = REQUEST_LIMIT_MS } = request;
  const type = typeof body === "string" ? "application/json" : "application/octet-stream";
  for (let tries = 1;; tries += 1) {
    const answer = await environment.fetch(`${link.endpoint}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${api_key}`,
        "user-agent": link.user_agent,
        ...body !== undefined && { "content-type": type },
      },
      ...body !== undefined && { body },
      // A credential must not follow a redirect to another server.
      redirect: "manual",
      signal: AbortSignal.any([environment.signal, AbortSignal.timeout(limit_ms)]),
    }).catch((error) => {
      environment.signal.throwIfAborted();
      return error as Error;
    });
    if (answer instanceof Response && answer.status === 200) return answer;
    const isLasting = answer instanceof Response && answer.status < 500 && answer.status !== 429;
    if (isLasting || tries >= TRIES_MAX) throw new Failure(`${what}: ${await whyOf(answer)}`, EXIT.failure);
    await rest(agent, agent.timers.error_retry_ms);
  }
}

async function whyOf(answer: Response | Error): Promise<string> {
  if (answer instanceof Error) return answer.message;
  const { message } = await answer.json().catch(() => ({})) as { readonly message?: unknown };
  return typeof message === "string" ? message : `status ${answer.status}`;
}
