// Creates one instance. Repeats the request with the same Idempotency-Key at running servers until the outcome is known
// or the time limit has passed.
import type { Instance } from "../../src/contract/instance.ts";
import type { CreateCall } from "./creates-site.ts";

export type Created = {
  readonly name: string;
  readonly outcome: "acknowledged" | "no_room" | "failed" | "unknown";
  /** The id of the created instance, or null if no server acknowledged its creation. */
  readonly id: string | null;
  /** The instance in the reply. */
  readonly instance: Instance | null;
  readonly took_ms: number;
  /** The number of attempts without a reply. */
  readonly unanswered: number;
  /** Whether the client sent attempts to more than one server. */
  readonly went_over: boolean;
  /** The number of 409s. A 409 means that the first request with this key still runs. */
  readonly still_running: number;
  /** The number of 503s and 429s after which the client repeated the request. */
  readonly busy: number;
  /** The text of the last rejection. */
  readonly said: string | null;
};

export type CreateOptions = {
  /** Returns the URLs of the servers that are running. */
  readonly urls: () => readonly string[];
  /** The index of the server that gets the first attempt. */
  readonly first?: number;
  /** The time in milliseconds after which no further attempt starts. It is also the time limit of each attempt. */
  readonly limit_ms: number;
};

/**
 * The pause after an attempt without a reply. After a reply that asks for a retry, the pause is RETRY_MS doubled once
 * for each such reply, up to RETRY_MS_MAX, plus a random time of up to the same length, so that a thousand clients do
 * not retry at the same time. If the reply's Retry-After is longer, the client waits for the time in Retry-After.
 */
const RETRY_MS = 50;
const RETRY_MS_MAX = 4_000;

type Heard = { readonly status: number; readonly retry_after_s: number; readonly body: Partial<Instance> & Said };
type Said = { readonly message?: string };

export async function createOne(call: CreateCall, { urls, first = 0, limit_ms }: CreateOptions): Promise<Created> {
  const start_ms = performance.now();
  const asked = new Set<string>();
  let [unanswered, still_running, busy] = [0, 0, 0];
  let said: string | null = null;
  const end = (outcome: Created["outcome"], instance: Instance | null = null): Created => ({
    name: call.body.name,
    outcome,
    id: instance?.id ?? null,
    instance,
    took_ms: performance.now() - start_ms,
    unanswered,
    went_over: asked.size > 1,
    still_running,
    busy,
    said,
  });

  for (let turn = first; performance.now() - start_ms < limit_ms;) {
    const known = urls();
    const url = known[turn % known.length];
    if (url !== undefined) asked.add(url);
    const heard = url === undefined ? null : await attempt(url, call, limit_ms);
    if (heard === null) {
      unanswered += 1;
      turn += 1;
      await sleep(RETRY_MS);
      continue;
    }
    const { status, body, retry_after_s } = heard;
    if (status === 201) return end("acknowledged", body as Instance);
    said = `${status} ${body.message ?? ""}`;
    if (status === 503 && body.message?.startsWith("no eligible compute node")) return end("no_room");
    if (status === 409 && body.message?.includes("still runs")) still_running += 1;
    else if (status === 503 || status === 429) busy += 1;
    else return end("failed");
    const pause_ms = Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** (busy + still_running)) * (1 + Math.random());
    await sleep(Math.max(pause_ms, retry_after_s * 1_000));
  }
  return end("unknown");
}

async function attempt(url: string, call: CreateCall, limit_ms: number): Promise<Heard | null> {
  try {
    const response = await fetch(url + call.path, {
      method: call.method,
      headers: {
        authorization: `Bearer ${call.key}`,
        "content-type": "application/json",
        "idempotency-key": call.idempotency_key,
      },
      body: JSON.stringify(call.body),
      signal: AbortSignal.timeout(limit_ms),
    });
    const retry_after_s = Number(response.headers.get("retry-after") ?? 0);
    return { status: response.status, retry_after_s, body: await response.json() };
  } catch {
    return null;
  }
}

function sleep(duration_ms: number): Promise<void> {
  return new Promise((wake) => setTimeout(wake, duration_ms));
}
