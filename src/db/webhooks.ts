// Stores the deliveries of webhooks: the events that wait, and the outcomes of attempts (docs/webhooks.md).
import {
  SWEEP_ROWS,
  SWEEPS_PER_PASS,
  WEBHOOK_FOLLOW_EVENTS,
  WEBHOOK_LEASE_S,
  WEBHOOK_PENDING_MAX,
  WEBHOOK_RETRY_S,
  WEBHOOKS_AT_ONCE_EACH,
} from "../contract/limits.ts";
import type { Db } from "./pool.ts";
import { arrayLiteral } from "./sql-array.ts";
import { sweepRows } from "./sweep.ts";

/** A claimed webhook, and the oldest of its deliveries that wait. */
export type Attempt = {
  readonly webhook_id: string;
  readonly claim: string;
  readonly tenant_id: string;
  readonly url: string;
  readonly sealed_secret: string;
  readonly delivery_id: string;
  readonly type: string;
  readonly event: Readonly<Record<string, unknown>>;
  /** The number of earlier attempts. */
  readonly attempts: number;
};

/** The end of an attempt; `reason` is null after a success. */
type AttemptEnd = {
  readonly status: number | null;
  readonly reason: string | null;
  readonly pause_s: number;
  readonly continues: boolean;
};

const COLUMNS = `webhook_id uuid, claim uuid, tenant_id uuid, url text, sealed_secret text, delivery_id uuid, type text,
  event jsonb, attempts int`;
const TAKE = `select * from webhook_take($1, $2, $3, $4::uuid[]) as a(${COLUMNS})`;
const RECORD = `select * from webhook_record($1, $2, $3, $4, $5, $6, $7, $8, $9) as a(${COLUMNS})`;

/** Creates deliveries for events that were committed. Returns whether there may be more such events. */
export async function followEvents(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ read: number }>("select webhook_follow($1, $2) as read", [
    WEBHOOK_FOLLOW_EVENTS,
    WEBHOOK_PENDING_MAX,
  ]);
  return rows[0]!.read === WEBHOOK_FOLLOW_EVENTS;
}

/**
 * Claims webhooks that are due. `busy` contains the tenant of each webhook to which this process is already sending.
 */
export async function takeWebhooks(db: Db, rows_max: number, busy: readonly string[]): Promise<Attempt[]> {
  const params = [WEBHOOK_LEASE_S, rows_max, WEBHOOKS_AT_ONCE_EACH, arrayLiteral(busy)];
  return (await db.query<Attempt>(TAKE, params)).rows;
}

/**
 * Records an attempt. Returns the next delivery that this process must send to the webhook. Returns null if `continues`
 * is false, if no delivery can be sent now, or if this process no longer has the claim of the webhook. After a failure,
 * only test events can be sent until the pause ends.
 */
export async function recordAttempt(db: Db, { webhook_id, claim, delivery_id }: Attempt, end: AttemptEnd) {
  const { status, reason, pause_s, continues } = end;
  const params = [webhook_id, claim, delivery_id, status, reason, pause_s, WEBHOOK_RETRY_S, WEBHOOK_LEASE_S, continues];
  return (await db.query<Attempt>(RECORD, params)).rows[0] ?? null;
}

/** Deletes deliveries that ended more than `retention_s` ago. */
export async function dropEndedDeliveries(db: Db, retention_s: number): Promise<void> {
  await sweepRows(db, {
    table: "webhook_delivery",
    where: "ended_at < (select berth_now()) - make_interval(secs => $1)",
    order: "ended_at",
    params: [retention_s],
  });
}

const DELETED = `
  select webhook_id from webhook_queue q where not exists (select from webhook w where w.id = q.webhook_id)`;
const DROP_QUEUE = `
  delete from webhook_queue q
   where webhook_id = $1 and not exists (select from webhook_delivery d where d.webhook_id = q.webhook_id)`;

/**
 * Deletes deliveries of webhooks that were deleted, at most a limited number per pass. The next pass deletes the rest.
 */
export async function dropDeletedWebhooks(db: Db): Promise<void> {
  const { rows } = await db.query<{ webhook_id: string }>(DELETED);
  let rows_left = SWEEP_ROWS * SWEEPS_PER_PASS;
  for (const { webhook_id } of rows) {
    const params = [webhook_id];
    rows_left -= await sweepRows(db, { table: "webhook_delivery", where: "webhook_id = $1", order: "number", params });
    if (rows_left <= 0) return;
    await db.query(DROP_QUEUE, params);
  }
}
