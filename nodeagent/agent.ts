// Defines the agent's shared state, and sends calls to the control plane. If the server is unavailable, the caller gets
// a reason and the pause before a retry.
import { pause } from "../cli/internal/api.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { type Answer, type Call, exchange, type Link, Unreachable } from "../cli/internal/exchange.ts";
import { atLeastMs } from "../cli/internal/backoff.ts";
import { Failure } from "../cli/internal/failure.ts";
import { plainText } from "../cli/internal/plain-text.ts";
import type { Environment } from "../cli/internal/environment.ts";
import type { Driver } from "./driver.ts";
import type { Listener } from "./migration/listener.ts";
import type { NicTag } from "./nic-tags.ts";

export type Timers = {
  readonly heartbeat_ms: number;
  readonly status_check_ms: number;
  readonly status_full_ms: number;
  readonly metrics_ms: number;
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
  /** The networks that the machine is connected to. */
  readonly nic_tags: readonly NicTag[];
  readonly state_dir: string;
  /** Listens for the VMs that other nodes send to this node. */
  readonly listener: Listener;
  /** Returns the node's current address on the admin network; null if it has none to report. */
  readonly adminIp: () => Promise<string | null>;
  readonly timers: Timers;
  /** Limit on bytes of cached images that no job or VM uses. */
  readonly image_bytes_max: number;
};

export const REQUEST_LIMIT_MS = 15_000;

/** The control plane rejected the node's API key. */
export class KeyRefused extends Error {}

/** Writes a line to stderr; systemd adds the time. Do not pass secrets. */
export function log(agent: Pick<Agent, "environment">, line: string): void {
  agent.environment.stderr.write(`${plainText(line)}\n`);
}

export type Reply = { readonly kind: "answer"; readonly answer: Answer } | {
  readonly kind: "later";
  readonly why: string;
  readonly pause_ms: number;
};

type Talking = Pick<Agent, "environment" | "link" | "timers">;

/**
 * Sends a call. Returns the answer, or a reason and a pause before a retry. Throws a Failure when the agent stops, and
 * if the answer is a redirect or a 2xx whose body is not JSON.
 */
export async function talk(agent: Talking, token: string | null, call: Call): Promise<Reply> {
  try {
    const answer = await exchange(agent.environment, { ...agent.link, token }, call);
    if (answer.status !== 429 && answer.status < 500) return { kind: "answer", answer };
    const retry_after_ms = (answer.retry_after_s ?? 0) * 1_000;
    return later(
      agent,
      `the server responded with status ${answer.status}`,
      Math.max(retry_after_ms, agent.timers.error_retry_ms),
    );
  } catch (error) {
    if (error instanceof Unreachable) return later(agent, error.message, agent.timers.error_retry_ms);
    throw error;
  }
}

function later({ environment }: Talking, why: string, base_ms: number): Reply {
  return { kind: "later", why, pause_ms: atLeastMs(base_ms, environment.random()) };
}

/** Sleeps. Throws when the agent stops. */
export async function rest(agent: Pick<Agent, "environment">, duration_ms: number): Promise<void> {
  await pause(agent.environment, duration_ms);
}

/** Returns the result of work that cannot be stopped. Throws at once when the agent stops. */
export async function untilStopped<T>({ environment: { signal } }: Agent, work: Promise<T>): Promise<T> {
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(new Failure("interrupted", EXIT.interrupted));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  try {
    return await Promise.race([work, stopped.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Returns the status and message of an error answer as text for the log. */
export function refusalText({ status, body }: Answer): string {
  const message = typeof body === "object" && body !== null ? (body as Record<string, unknown>).message : undefined;
  return `${status}${typeof message === "string" ? ` ${message}` : ""}`;
}
