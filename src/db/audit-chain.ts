// Extends the audit chain, which is a log of audited decisions. Each event contains the hash of the previous event. The
// text that was hashed is stored, so verification (audit-verify.ts) hashes stored text and need not rebuild it.
//
// Events are appended from the committed rows of the table `transition`, in (xid, id) order. A row is appended only
// after the end of all transactions that began before the row's own transaction. Therefore no later commit can add a
// row that belongs before an appended row. An advisory lock lets only one process at a time append. The process holds
// the lock until its transaction ends.
import { createHash } from "node:crypto";
import type { AuditEvent, AuditHead } from "../contract/audit.ts";
import { canonicalJson } from "../lib/text/canonical-json.ts";
import { toRfc3339 } from "../lib/text/instant.ts";
import { arrayLiteral, longTextArray } from "./sql-array.ts";
import type { Db, DbClient } from "./pool.ts";

/** The prev_hash of the first event. */
export const GENESIS_HASH = "0".repeat(64);

/** The audit column of a transition row. */
export type AuditEntry = Omit<AuditEvent, "seq" | "ts" | "prev_hash" | "hash">;

type Place = { readonly last_xid: string; readonly last_id: number };
type Head = AuditHead & Place & { readonly restored: boolean };
type Pending = { readonly id: number; readonly xid: string; readonly at: Date; readonly audit: AuditEntry };

const BATCH_ROWS = 500;
/**
 * The time limit of the wait for the advisory lock. It is longer than the pool's lock limit, because another process
 * may be appending a batch. It is shorter than the statement limit.
 */
const LOCK_LIMIT = "set local lock_timeout = '4s'";
const LOCK = "select pg_advisory_xact_lock(hashtextextended('berth:audit_chain', 0))";

/**
 * After a dump is restored into another cluster, its rows have transaction ids that this cluster has not assigned yet.
 * The saved position (last_xid, last_id) is then meaningless, and only audit_event.transition_id shows which rows are
 * already in the chain.
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

/** Appends all events that can be appended now, at most `max` per transaction. Returns their number. */
export async function chainPending(db: Db, max = BATCH_ROWS): Promise<number> {
  let total = 0;
  while (true) {
    const count = await db.withClient((client) => chainBatch(client, max));
    total += count;
    if (count < max) return total;
  }
}

/**
 * Appends one batch. On an error, the connection is closed with its transaction open, so PostgreSQL rolls back and
 * releases the lock.
 */
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
      arrayLiteral(events.map((event) => event.seq)),
      arrayLiteral(events.map((event) => event.transition_id)),
      longTextArray(events.map((event) => event.canonical)),
      arrayLiteral(events.map((event) => event.prev_hash)),
      arrayLiteral(events.map((event) => event.hash)),
    ]);
  }
  const place = placeAfter(head, rows, rows.length < max);
  if (events.length > 0 || place !== head) {
    const last = events.at(-1) ?? head;
    const moved = await client.query(MOVE_HEAD, [head.seq, last.seq, last.hash, place.last_xid, place.last_id]);
    if (moved.rowCount !== 1) {
      throw new Error(`the head of the audit chain changed from ${head.seq} while this process held its lock`);
    }
  }
  await client.query("commit");
  return rows.length;
}

async function readHead(client: DbClient): Promise<Head> {
  const { rows } = await client.query<Head>(HEAD);
  if (rows[0] === undefined) throw new Error("the table audit_head has no row");
  return rows[0];
}

/**
 * Returns the position to save after a batch. After a restore, the position is reset to the start as soon as all rows
 * of the restored log are in the chain.
 */
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

/** Returns the SHA-256 of the text in UTF-8, as lower-case hex. */
export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
