// Stores rate limits in database rows and uses the database's clock, so that all processes share the limits
// (docs/limits.md).
import { APPROVE_FAILURES_PER_HOUR } from "../contract/limits.ts";
import type { DbClient } from "./pool.ts";

export type Bucket = {
  /** The action and the caller, such as approve:192.0.2.1; at most 200 characters. */
  readonly bucket: string;
  /** The number of tokens in a full bucket; an integer of at least 1. */
  readonly burst: number;
  readonly per_minute: number;
};

/** `retry_after_s` is in whole seconds, at least 1. */
export type LimitAnswer = { readonly ok: true } | { readonly ok: false; readonly retry_after_s: number };

/**
 * $1: bucket; $2: microseconds per token; $3: microseconds to fill an empty bucket. A row stores when its bucket will
 * be full again. If that time is more than $3 in the future, the clock was set back. Then the bucket counts as full.
 */
const TAKE = `
  with span as (select $2 * interval '1 microsecond' as token, $3 * interval '1 microsecond' as bucket),
  taken as (
    insert into rate_bucket as b (bucket, full_at) select $1, berth_now() + token from span
    on conflict (bucket) do update set full_at = (
      select case when b.full_at > now + bucket then now else greatest(b.full_at, now) end + token
        from (select excluded.full_at - token as now, token, bucket from span) s)
    where (select b.full_at <= now + bucket - token or b.full_at > now + bucket
             from (select excluded.full_at - token as now, token, bucket from span) s)
    returning 1)
  select exists (select from taken) as taken,
         (select extract(epoch from full_at - berth_now()) from rate_bucket where bucket = $1)::float8 as full_in_s`;

/** Takes one token. If the bucket is empty, returns the time until it has a token. */
export async function takeToken(db: DbClient, bucket: Bucket): Promise<LimitAnswer> {
  const { token_us, bucket_us } = spans(bucket);
  const { rows } = await db.query<{ taken: boolean; full_in_s: number | null }>(TAKE, [
    bucket.bucket,
    token_us,
    bucket_us,
  ]);
  const { taken, full_in_s } = rows[0]!;
  if (taken) return { ok: true };
  // `full_in_s` is null if another process created the row after the statement began.
  const wait_s = full_in_s === null ? token_us / 1e6 : full_in_s - (bucket_us - token_us) / 1e6;
  return { ok: false, retry_after_s: Math.max(1, Math.ceil(wait_s)) };
}

/** Puts one token back, as if it had not been taken. */
export async function giveToken(db: DbClient, bucket: Bucket): Promise<void> {
  const give = "update rate_bucket set full_at = full_at - $2 * interval '1 microsecond' where bucket = $1";
  await db.query(give, [bucket.bucket, spans(bucket).token_us]);
}

function spans({ burst, per_minute }: Bucket): { token_us: number; bucket_us: number } {
  if (!Number.isInteger(burst) || burst < 1) {
    throw new RangeError(`burst is ${burst}; it must be an integer of at least 1`);
  }
  if (!(per_minute > 0)) throw new RangeError(`per_minute is ${per_minute}; it must be greater than 0`);
  const token_us = Math.max(1, Math.round(60e6 / per_minute));
  return { token_us, bucket_us: burst * token_us };
}

/**
 * The maximum number of failures per hour on the whole site. Only failures of authenticated callers are counted (S-07).
 */
const FAILURES_PER_HOUR = { "cn-approval": APPROVE_FAILURES_PER_HOUR } as const;
export type FailureSubject = keyof typeof FAILURES_PER_HOUR;

const NOTE = `
  insert into failure_count as f (subject, minute, failures) values ($1, date_trunc('minute', berth_now()), 1)
  on conflict (subject, minute) do update set failures = f.failures + 1`;

/**
 * Counts the failures of the last hour by whole minutes. The oldest minute counts although a part of it is more than an
 * hour ago. So no window of 60 minutes exceeds the limit.
 */
const FAILURES = `
  select coalesce(sum(failures), 0)::int as failures,
         extract(epoch from min(minute) + interval '61 minutes' - max(n.now))::float8 as oldest_leaves_in_s
    from failure_count, (select berth_now() as now) n
   where subject = $1 and minute >= date_trunc('minute', n.now) - interval '1 hour'`;

export async function noteFailure(db: DbClient, subject: FailureSubject): Promise<void> {
  await db.query(NOTE, [subject]);
}

/**
 * Called before an attempt. Answers `ok: false` if the failure limit is reached. N concurrent attempts can exceed the
 * limit by up to N.
 */
export async function failuresExhausted(db: DbClient, subject: FailureSubject): Promise<LimitAnswer> {
  const { rows } = await db.query<{ failures: number; oldest_leaves_in_s: number | null }>(FAILURES, [subject]);
  const { failures, oldest_leaves_in_s } = rows[0]!;
  if (failures < FAILURES_PER_HOUR[subject]) return { ok: true };
  return { ok: false, retry_after_s: Math.max(1, Math.ceil(oldest_leaves_in_s ?? 1)) };
}

/** Deletes full buckets and counts of failures older than two hours. Returns the number of deleted rows. */
export async function pruneLimits(db: DbClient): Promise<number> {
  const buckets = await db.query("delete from rate_bucket where full_at <= (select berth_now())");
  const minutes = await db.query("delete from failure_count where minute < (select berth_now()) - interval '2 hours'");
  return buckets.rowCount + minutes.rowCount;
}
