// Reads the audit chain. Every read first appends the events of transitions that were committed before the read began,
// so a client that sees the effect of a change also finds its event.
import type { AuditEvent, AuditHead, AuditPage } from "../contract/audit.ts";
import { AUDIT_PAGE_ROWS_DEFAULT } from "../contract/limits.ts";
import { chainPending } from "./audit-chain.ts";
import type { Db, DbClient } from "./pool.ts";

/** The longest time that a read waits for transactions that began before it, and the interval between its checks. */
const SETTLE_MS = 1_000;
const LOOK_MS = 10;

const EDGE = "select pg_snapshot_xmax(pg_current_snapshot())::text as edge";
const UNSETTLED = `
  select exists (
    select from transition t, audit_head h
     where t.audit is not null and (t.xid, t.id) > (h.last_xid, h.last_id) and t.xid < $1::xid8
       and not exists (select from audit_event e where e.transition_id = t.id)) as unsettled`;

/**
 * Appends pending events. An event that is younger than a running transaction cannot be appended until that transaction
 * ends; waits at most a second for it.
 */
export async function settle(db: Db): Promise<void> {
  const edge = (await db.query<{ edge: string }>(EDGE)).rows[0]!.edge;
  for (let waited_ms = 0; waited_ms <= SETTLE_MS; waited_ms += LOOK_MS) {
    await chainPending(db);
    const { rows } = await db.query<{ unsettled: boolean }>(UNSETTLED, [edge]);
    if (!rows[0]!.unsettled) return;
    await new Promise((wake) => setTimeout(wake, LOOK_MS));
  }
}

/** Returns the newest event, or null before the first. */
export async function readHead(db: DbClient): Promise<AuditHead | null> {
  const { rows } = await db.query<AuditHead>("select seq, hash from audit_head where seq >= 0");
  return rows[0] ?? null;
}

const PAGE = `
  select e.seq, e.canonical, e.hash, h.seq as head_seq, h.hash as head_hash
    from audit_head h left join lateral (
      select seq, canonical, hash from audit_event where seq > $1 order by seq limit $2) e on true
   order by e.seq`;

type PageRow = StoredEvent & { readonly head_seq: number; readonly head_hash: string };
type StoredEvent = { readonly seq: number | null; readonly canonical: string; readonly hash: string };

/** Lists events after `after_seq` (exclusive), or from event 0. */
export async function listEvents(db: Db, query: { after_seq?: number; limit?: number }): Promise<AuditPage> {
  await settle(db);
  const { rows } = await db.query<PageRow>(PAGE, [query.after_seq ?? -1, query.limit ?? AUDIT_PAGE_ROWS_DEFAULT]);
  const head = rows[0];
  return {
    events: rows.filter((row) => row.seq !== null).map(toEvent),
    head: head === undefined || head.head_seq < 0 ? null : { seq: head.head_seq, hash: head.head_hash },
  };
}

/** Returns one event, or null if the chain does not have that number yet. */
export async function getEvent(db: Db, seq: number): Promise<AuditEvent | null> {
  await settle(db);
  const { rows } = await db.query<StoredEvent>("select seq, canonical, hash from audit_event where seq = $1", [seq]);
  return rows[0] === undefined ? null : toEvent(rows[0]);
}

/** Builds the event from the hashed text, not from the columns, so that a reader can check the hash. */
function toEvent(row: StoredEvent): AuditEvent {
  try {
    return { ...JSON.parse(row.canonical), hash: row.hash };
  } catch (cause) {
    throw new Error(`the stored text of audit event ${row.seq} is not JSON; run opsctl audit verify`, { cause });
  }
}
