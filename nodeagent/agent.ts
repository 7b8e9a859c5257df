// What every part of the agent shares, and how it meets a server that is away or busy.
import { pause } from "../cli/internal/api.ts";
import { type Answer, type Call, exchange, type Link, Unreachable } from "../cli/internal/exchange.ts";
import { atLeastMs } from "../cli/internal/backoff.ts";
import { plainText } from "../cli/internal/plain-text.ts";
import type { Environment } from "../cli/internal/environment.ts";
import type { Driver } from "./driver.ts";

export type Timers = {
  readonly heartbeat_ms: number;
  readonly status_check_ms: number;
  readonly status_full_ms: number;
  readonly capacity_ms: number;
  readonly config_ms: number;
  readonly job_poll_ms: number;
  readonly claim_wait_s: number;
  readonly pending_retry_ms: number;
  readonly error_retry_ms: number;
  readonly approval_wait_s: number;
};

export type Agent = {
  readonly environment: Environment;
  readonly link: Omit<Link, "token">;
  readonly driver: Driver;
  readonly state_dir: string;
  /** The node's address on the admin network, as it is now; null when there is none to report. */
  readonly adminIp: () => Promise<string | null>;
  readonly timers: Timers;
  /** Bytes of images that may be kept although nothing uses them. */
  readonly image_bytes_max: number;
};

export const REQUEST_LIMIT_MS = 15_000;

/** The server does not take the key any more. */
export class KeyRefused extends Error {}

/** One plain line on stderr; the supervisor adds the time. Never call it with a secret. */
export function log(agent: Agent, line: string): void {
  agent.environment.stderr.write(`${plainText(line)}\n`);
}

export type Reply = { readonly kind: "answer"; readonly answer: Answer } | {
  readonly kind: "later";
  readonly why: string;
  readonly pause_ms: number;
};

/** An answer to act on, or why there is none now and how long to wait. Throws only when the agent is being stopped. */
export async function talk(agent: Agent, token: string | null, call: Call): Promise<Reply> {
  try {
    const answer = await exchange(agent.environment, { ...agent.link, token }, call);
    if (answer.status !== 429 && answer.status < 500) return { kind: "answer", answer };
    const asked_ms = (answer.retry_after_s ?? 0) * 1_000;
    return later(agent, `the server answered ${answer.status}`, Math.max(asked_ms, agent.timers.error_retry_ms));
  } catch (error) {
    if (error instanceof Unreachable) return later(agent, error.message, agent.timers.error_retry_ms);
    throw error;
  }
}

function later({ environment }: Agent, why: string, base_ms: number): Reply {
  return { kind: "later", why, pause_ms: atLeastMs(base_ms, environment.random()) };
}

/** Sleeps; throws when the agent is being stopped. */
export async function rest(agent: Agent, duration_ms: number): Promise<void> {
  await pause(agent.environment, duration_ms);
}

/** What a refused call said, for the log. */
export function refusalText({ status, body }: Answer): string {
  const message = typeof body === "object" && body !== null ? (body as Record<string, unknown>).message : undefined;
  return `${status}${typeof message === "string" ? ` ${message}` : ""}`;
}
