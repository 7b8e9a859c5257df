// The audit chain. Each event has the hash of the previous event. The hashed text itself is stored, so a check rebuilds
// nothing (audit-verify.ts).
//
// The chain is built from the transition log after the commit, in (xid, id) order, and only below the oldest running
// transaction: no row can appear later before a chained one. One process at a time chains, under a lock that ends with its
// transaction.
import { createHash } from "node:crypto";
import type { AuditEvent, AuditHead } from "../contract/audit.ts";
import { canonicalJson } from "../lib/text/canonical-json.ts";
import { toRfc3339 } from "../lib/text/instant.ts";
import type { Db, DbClient } from "./pool.ts";

/** The prev_hash of the first event. */
export const GENESIS_HASH = "0".repeat(64);

/** The audit column of a transition row. */
export type AuditEntry = Omit<AuditEvent, "seq" | "ts" | "prev_hash" | "hash">;

type Place = { readonly last_xid: string; readonly last_id: number };
type Head = AuditHead & Place & { readonly restored: boolean };
type Pending = { readonly id: number; readonly xid: string; readonly at: Date; readonly audit: AuditEntry };

const BATCH_ROWS = 500;
/** Longer than the pool's own limit, because another process may be chaining a batch. Below the statement limit. */
const LOCK_LIMIT = "set local lock_timeout = '4s'";
const LOCK = "select pg_advisory_xact_lock(hashtextextended('berth:audit_chain', 0))";

/**
 * A dump restored into another cluster has transaction numbers that this cluster has not assigned. The position in the
 * log is meaningless then, and only the id shows what is chained already.
 */
const HEAD = `
  select seq, hash, last_xid::text, last_id, last_xid >= pg_snapshot_xmax(pg_current_snapshot()) as restored
    from audit_head`;

const PENDING = `
  select t.id, t.xid::text as xid, t.at, t.audit from transition t, pg_current_snapshot() s
   where t.audit is not null and (t.xid, t.id) > ($1::xid8, $2::bigint)
     and (t.xid < pg_snapshot_xmin(s) or ($3 and t.xid >= pg_snapshot_xmax(s)))
     and not exists (select from audit_event e where e.transition_id = t.id)
   order by t.xid, t.id limit $4`;

const APPEND = `
  insert into audit_event (seq, transition_id, canonical, prev_hash, hash)
    select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])`;

const MOVE_HEAD = "update audit_head set seq = $2, hash = $3, last_xid = $4::xid8, last_id = $5 where seq = $1";

const START: Place = { last_xid: "0", last_id: 0 };

/** Chains all events that can be chained now, `max` per transaction. Returns their number. */
export async function chainPending(db: Db, max = BATCH_ROWS): Promise<number> {
  let total = 0;
  while (true) {
    const count = await db.withClient((client) => chainBatch(client, max));
    total += count;
    if (count < max) return total;
  }
}

/** An error closes the connection with its transaction open, which rolls back and releases the lock. */
async function chainBatch(client: DbClient, max: number): Promise<number> {
  await client.query("begin");
  await client.query(LOCK_LIMIT);
  await client.query(LOCK);
  const head = await readHead(client);
  const from = head.restored ? START : head;
  const { rows } = await client.query<Pending>(PENDING, [from.last_xid, from.last_id, head.restored, max]);
  const events = link(head, rows);
  if (events.length > 0) {
    await client.query(APPEND, [
      events.map((event) => event.seq),
      events.map((event) => event.transition_id),
      events.map((event) => event.canonical),
      events.map((event) => event.prev_hash),
      events.map((event) => event.hash),
    ]);
  }
  const place = placeAfter(head, rows, rows.length < max);
  if (events.length > 0 || place !== head) {
    const last = events.at(-1) ?? head;
    const moved = await client.query(MOVE_HEAD, [head.seq, last.seq, last.hash, place.last_xid, place.last_id]);
    if (moved.rowCount !== 1) throw new Error(`the head of the audit chain moved away from ${head.seq} under its lock`);
  }
  await client.query("commit");
  return rows.length;
}

async function readHead(client: DbClient): Promise<Head> {
  const { rows } = await client.query<Head>(HEAD);
  if (rows[0] === undefined) throw new Error("the table audit_head has no row");
  return rows[0];
}

/** After a restore the position starts over, but only when all events of the old log are chained. */
function placeAfter(head: Head, rows: readonly Pending[], drained: boolean): Place {
  if (head.restored) return drained ? START : head;
  const last = rows.at(-1);
  return last === undefined ? head : { last_xid: last.xid, last_id: last.id };
}

type Linked = {
  readonly seq: number;
  readonly transition_id: number;
  readonly canonical: string;
  readonly prev_hash: string;
  readonly hash: string;
};

function link(head: AuditHead, rows: readonly Pending[]): Linked[] {
  let { seq, hash } = head;
  return rows.map(({ id, at, audit }) => {
    const prev_hash = hash;
    const canonical = canonicalJson({ ...audit, seq: ++seq, ts: toRfc3339(at), prev_hash });
    hash = sha256(canonical);
    return { seq, transition_id: id, canonical, prev_hash, hash };
  });
}

/** SHA-256 of the UTF-8 text, lower hex. */
export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
