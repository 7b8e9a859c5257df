// Sends calls with retries. Every request is safe to repeat: GET only reads; POST, PUT and PATCH carry one
// Idempotency-Key for all attempts; a repeated DELETE treats an absent object as deleted.
import { PAGE_ROWS_MAX } from "../../src/contract/limits.ts";
import { atLeastMs, jitteredMs } from "./backoff.ts";
import { EXIT } from "./exit-code.ts";
import { type Answer, type Call, exchange, type Link, type Query, Unreachable } from "./exchange.ts";
import { Failure, failureOfAnswer } from "./failure.ts";
import type { Environment } from "./environment.ts";

const TRIES_MAX = 3;
const REQUEST_LIMIT_MS = 30_000;
const FIRST_RETRY_MS = 400;
/**
 * Longest Retry-After that a call waits for. If the server asks for more, the call fails at once, so that the user does
 * not wait without a message. After a 429 or 503, the message contains a text such as "try again in 60 s".
 */
const RETRY_AFTER_S_MAX = 10;
const UNAUTHENTICATED = 401;

export type Request = Omit<Call, "limit_ms"> & { readonly limit_ms?: number; readonly tries_max?: number };

/** Returns the body of the response that `sendForAnswer` returns. */
export async function send<T>(environment: Environment, link: Link, request: Request): Promise<T> {
  return (await sendForAnswer(environment, link, request)).body as T;
}

/**
 * Returns a 2xx response with its headers, or a 404 without its body after a repeated DELETE. Throws a Failure for any
 * other status, and Unreachable if the last attempt gets no response.
 */
export async function sendForAnswer(environment: Environment, link: Link, request: Request): Promise<Answer> {
  const call: Call = {
    ...request,
    limit_ms: request.limit_ms ?? REQUEST_LIMIT_MS,
    // A caller that repeats a request itself passes its own key.
    headers: { ...(carriesKey(request) ? { "idempotency-key": environment.newId() } : {}), ...request.headers },
  };
  let at = link;
  let is_uncertain = false;
  for (let tries = 1;; tries++) {
    const last = tries >= (request.tries_max ?? TRIES_MAX);
    const outcome = await attempt(environment, at, call);
    if (outcome instanceof Unreachable) {
      is_uncertain ||= outcome.is_uncertain;
      if (last) throw new Unreachable(outcome.message, outcome.exit_code, { is_uncertain });
    }
    const answer = outcome instanceof Unreachable ? null : outcome;
    if (answer?.status === UNAUTHENTICATED && at.renew !== undefined) {
      const token = await at.renew();
      at = { endpoint: at.endpoint, token, user_agent: at.user_agent };
      if (token !== null) {
        tries--; // A request that got 401 had no effect, so it does not count as a try.
        continue;
      }
    }
    if (answer !== null && (last || !mayRepeat(answer, call, tries))) {
      // An earlier attempt may have deleted the object, although its response was lost.
      const already_gone = call.method === "DELETE" && answer.status === 404 && tries > 1;
      if (answer.status < 300 || already_gone) return already_gone ? { ...answer, body: null } : answer;
      throw failureOfAnswer(answer.status, answer.body, answer.retry_after_s);
    }
    const asked_s = answer?.retry_after_s ?? null;
    const pause_ms = asked_s === null
      ? jitteredMs(FIRST_RETRY_MS * 2 ** (tries - 1), environment.random())
      : atLeastMs(asked_s * 1_000, environment.random());
    await pause(environment, pause_ms);
  }
}

async function attempt(environment: Environment, link: Link, call: Call): Promise<Answer | Unreachable> {
  try {
    return await exchange(environment, link, call);
  } catch (error) {
    if (error instanceof Unreachable) return error;
    throw error;
  }
}

function mayRepeat({ status, retry_after_s }: Answer, call: Call, tries: number): boolean {
  if (retry_after_s !== null && retry_after_s > RETRY_AFTER_S_MAX) return false;
  if (status === 503) return true;
  // The server still runs an earlier attempt with this key.
  return status === 409 && carriesKey(call) && tries > 1 && retry_after_s !== null;
}

/**
 * Returns whether a request carries an Idempotency-Key. PUT carries one because of If-Match: without the key, the
 * server would reject the repetition of a PUT that succeeded.
 */
function carriesKey({ method }: Pick<Call, "method">): boolean {
  return method === "POST" || method === "PUT" || method === "PATCH";
}

export async function pause(environment: Environment, duration_ms: number): Promise<void> {
  try {
    await environment.sleepMs(duration_ms, environment.signal);
  } catch (error) {
    if (environment.signal.aborted) throw new Failure("interrupted", EXIT.interrupted);
    throw error;
  }
}

/** Returns all items of a paged list. */
export async function sendForAll<T>(
  environment: Environment,
  link: Link,
  path: string,
  query: Query = {},
): Promise<T[]> {
  const items: T[] = [];
  let page_token: string | undefined;
  do {
    const page: { items: T[]; next_page?: string } = await send(environment, link, {
      method: "GET",
      path,
      query: { limit: PAGE_ROWS_MAX, ...query, page_token },
    });
    items.push(...page.items);
    page_token = page.next_page;
  } while (page_token !== undefined);
  return items;
}
