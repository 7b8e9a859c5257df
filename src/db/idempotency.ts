// Stores Idempotency-Keys. A key identifies one message. A repeated request with the same key and body gets the same
// message id, and therefore the stored reply to that message. docs/wire.md, "Repeating a request".
import { createHash } from "node:crypto";
import { type Fault, fault } from "../contract/fault.ts";
import { SEEN_RETENTION_HOURS } from "../contract/limits.ts";
import type { DbClient } from "./pool.ts";
import { sweepRows } from "./sweep.ts";

export type KeyClaim = {
  /** The authenticated caller. Equal keys of different callers are independent. */
  readonly principal: string;
  readonly method: string;
  readonly path: string;
  /** Validated by parseIdempotencyKey. */
  readonly key: string;
  /** The keyed digest of the request body (`bodyDigest` in auth/mint.ts), in lower-case hex. */
  readonly body_sha256: string;
  /** A new UUIDv7, which becomes the message id if the key is new. */
  readonly new_msg_id: string;
  /** Resource scope of the request's object, saved with the key; absent if the route does not save one. */
  readonly place?: object | undefined;
};

export type KeyUse = Omit<KeyClaim, "new_msg_id" | "place">;

export type KeyAnswer =
  | { readonly ok: true; readonly msg_id: string; readonly repeated: boolean }
  | { readonly ok: false; readonly fault: Fault };

/**
 * Inserts the keys or replaces their expired rows. If a row has not expired, the update changes nothing and only
 * returns the row. Two rows of one statement must not have the same key.
 */
const CLAIM = `
  insert into idempotency as i (principal, method, path, key, body_sha256, msg_id, created_at, place)
  select u.principal, u.method, u.path, u.key, u.body_sha256, u.msg_id, clock.now, u.place
    from (select berth_now() as now) clock,
         unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::uuid[], $8::jsonb[])
           u(principal, method, path, key, body_sha256, msg_id, place)
  on conflict (principal, method, path, key) do update set (body_sha256, msg_id, created_at, place) = (
    select case when old then excluded.body_sha256 else i.body_sha256 end,
           case when old then excluded.msg_id else i.msg_id end,
           case when old then excluded.created_at else i.created_at end,
           case when old then excluded.place else i.place end
      from (select i.created_at <= excluded.created_at - make_interval(hours => $7) as old) age)
  returning principal, method, path, key, msg_id, body_sha256`;

const OTHER_BODY = fault("unprocessable", "this Idempotency-Key was used for a request with another body");

/** Each connection parses the statement once, under this name. */
const CLAIM_NAME = "claim idempotency keys";

type ClaimedRow = Pick<KeyClaim, "principal" | "method" | "path" | "key" | "body_sha256"> & { readonly msg_id: string };

export async function claimKey(db: DbClient, claim: KeyClaim): Promise<KeyAnswer> {
  return (await claimKeys(db, [claim]))[0]!;
}

/**
 * Claims several keys in one statement. No two claims may have the same `placeOf`. Returns the answers in the order of
 * the claims.
 */
export async function claimKeys(db: DbClient, claims: readonly KeyClaim[]): Promise<readonly KeyAnswer[]> {
  // All processes lock the rows in the same order, so that two statements with the same keys cannot deadlock.
  const sorted = new Map(claims.map((claim) => [placeOf(claim), claim] as const).toSorted(byPlace));
  const column = <V>(of: (claim: KeyClaim) => V): V[] => [...sorted.values()].map(of);
  const { rows } = await db.query<ClaimedRow>(CLAIM, [
    column(({ principal }) => principal),
    column(({ method }) => method),
    column(({ path }) => indexable(path)),
    column(({ key }) => key),
    column(({ body_sha256 }) => body_sha256),
    column(({ new_msg_id }) => new_msg_id),
    SEEN_RETENTION_HOURS,
    column(({ place }) => place === undefined ? null : JSON.stringify(place)),
  ], CLAIM_NAME);
  const claimed = new Map(rows.map((row) => [placeOf(row), row]));
  return claims.map((claim) => answerOf(claim, claimed.get(placeOf(claim))!));
}

function answerOf({ body_sha256, new_msg_id }: KeyClaim, row: ClaimedRow): KeyAnswer {
  if (row.body_sha256 !== body_sha256) return { ok: false, fault: OTHER_BODY };
  return { ok: true, msg_id: row.msg_id, repeated: row.msg_id !== new_msg_id };
}

/** Returns a text that identifies the row of a claim. */
export function placeOf({ principal, method, path, key }: Omit<KeyUse, "body_sha256">): string {
  return JSON.stringify([principal, method, indexable(path), key]);
}

function byPlace([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Deletes the key of a request that got 503 and had no effect, so that a retry of the request runs. Deletes nothing if
 * the key has another message id by now, because that id belongs to a newer request.
 */
export async function forgetKey(db: DbClient, use: KeyUse, msg_id: string): Promise<void> {
  const { principal, method, path, key } = use;
  const forget = "delete from idempotency where (principal, method, path, key) = ($1, $2, $3, $4) and msg_id = $5";
  await db.query(forget, [principal, method, indexable(path), key, msg_id]);
}

/**
 * Reads the resource scope that an earlier request with the same key and body saved. The earlier request must have a
 * stored reply.
 */
const SAVED_SCOPE = `
  select i.place from idempotency i join seen on seen.msg_id = i.msg_id
   where (i.principal, i.method, i.path, i.key) = ($1, $2, $3, $4) and i.body_sha256 = $5
     and i.created_at > (select berth_now()) - make_interval(hours => $6)`;

export async function findSavedScope(db: DbClient, use: KeyUse): Promise<unknown> {
  const { principal, method, path, key, body_sha256 } = use;
  const params = [principal, method, indexable(path), key, body_sha256, SEEN_RETENTION_HOURS];
  return (await db.query<{ place: unknown }>(SAVED_SCOPE, params)).rows[0]?.place ?? null;
}

/**
 * The longest path that is stored as it is. PostgreSQL limits an index row to about 2,700 bytes, so a longer path is
 * stored as its hash.
 */
const PATH_CHARS_MAX = 500;
function indexable(path: string): string {
  if (path.length <= PATH_CHARS_MAX) return path;
  return `sha256:${createHash("sha256").update(path).digest("hex")}`;
}

/** Deletes keys that are older than the retention of stored replies. Returns their number. */
export async function pruneIdempotency(db: DbClient): Promise<number> {
  return await sweepRows(db, {
    table: "idempotency",
    where: "created_at <= (select berth_now()) - make_interval(hours => $1)",
    order: "created_at",
    params: [SEEN_RETENTION_HOURS],
  });
}
