// Limits the request rate of authenticated callers. The buckets are local to the process, so no request needs a
// database statement for them. With n processes a caller can reach n times the rate. The two rates are settings and are
// read again in the background.
import { getLogger } from "@logtape/logtape";
import { type Caller, shareOf } from "../auth/caller.ts";
import type { KnownPrincipal } from "../auth/principal.ts";
import { type Fault, fault } from "../contract/fault.ts";
import { RATES_READ_MS } from "../contract/limits.ts";

/**
 * The number of requests per minute, and how many of them may use a method other than GET and HEAD. A full bucket has
 * the tokens of one minute.
 */
export type CallerRates = { readonly requests: number; readonly writes: number };

export type CallerRateOptions = {
  readonly read: () => Promise<CallerRates>;
  readonly now_ms: () => number;
};

const logger = getLogger(["berth"]);
const MINUTE_MS = 60_000;
/**
 * A sweep drops the full buckets. It runs if there are at least this many buckets, and twice as many as after the last
 * sweep.
 */
const BUCKETS_SWEPT = 10_000;

export type CallerRate = (principal: KnownPrincipal, method: string) => Fault | null;

/** Creates the limiter. Reads the rates once before it returns. Later reads run in the background. */
export async function createCallerRate({ read, now_ms }: CallerRateOptions): Promise<CallerRate> {
  /** The time at which each bucket is full again, by `now_ms`. A missing bucket is full. */
  const full_at_ms = new Map<string, number>();
  let rates = await read();
  let read_at_ms = now_ms();
  let sweep_at = BUCKETS_SWEPT;

  function readAgain(now: number): void {
    if (now - read_at_ms < RATES_READ_MS) return;
    read_at_ms = now;
    read().then((found) => rates = found).catch((error) => {
      logger.warning("reading the rate limits failed; the previous limits stay in force", { error: String(error) });
    });
  }

  /** Returns the milliseconds until a token is available; 0 or less if one is available now. */
  function missing_ms(bucket: string, per_minute: number, now: number): number {
    return (full_at_ms.get(bucket) ?? now) + MINUTE_MS / per_minute - (now + MINUTE_MS);
  }

  function take(bucket: string, per_minute: number, now: number): void {
    full_at_ms.set(bucket, Math.max(full_at_ms.get(bucket) ?? now, now) + MINUTE_MS / per_minute);
  }

  function sweep(now: number): void {
    if (full_at_ms.size < sweep_at) return;
    for (const [bucket, at] of full_at_ms) if (at <= now) full_at_ms.delete(bucket);
    sweep_at = Math.max(BUCKETS_SWEPT, 2 * full_at_ms.size);
  }

  return (principal, method) => {
    const now = now_ms();
    readAgain(now);
    const buckets = bucketsOf(shareOf(principal), method, rates);
    const wait_ms = Math.max(...buckets.map(([bucket, per_minute]) => missing_ms(bucket, per_minute, now)));
    if (wait_ms > 0) return tooMany(Math.max(1, Math.ceil(wait_ms / 1_000)));
    for (const [bucket, per_minute] of buckets) take(bucket, per_minute, now);
    sweep(now);
    return null;
  };
}

function bucketsOf({ id, shares }: Caller, method: string, rates: CallerRates): (readonly [string, number])[] {
  const requests = [`requests ${id}`, rates.requests * shares] as const;
  return method === "GET" || method === "HEAD" ? [requests] : [requests, [`writes ${id}`, rates.writes * shares]];
}

function tooMany(retry_after_s: number): Fault {
  return fault("too_many_requests", `too many requests from this caller; try again in ${retry_after_s} s`, {
    error_code: "TooManyRequests",
    retry_after_s,
  });
}
