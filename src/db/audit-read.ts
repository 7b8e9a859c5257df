// Reads the audit chain, in its table and in its archive. Every query for events first appends the events of committed
// transitions to the chain (`settle`). So a client that sees the effect of a change also finds the event of the change.
// The only exception: if a transaction that began before the change runs for longer than a second, the event comes
// later.
import type { AuditEvent, AuditHead, AuditPage } from "../contract/audit.ts";
import { AUDIT_PAGE_ROWS_DEFAULT, AUDIT_SEARCH_EVENTS_MAX } from "../contract/limits.ts";
import { archivedTo, eventsOf, segmentOf } from "./audit-archive.ts";
import { chainPending } from "./audit-chain.ts";
import type { Db, DbClient } from "./pool.ts";

/** The longest time that a read waits for the end of earlier transactions, and the interval of its checks. */
const SETTLE_MS = 1_000;
const LOOK_MS = 10;

const EDGE = "select pg_snapshot_xmax(pg_current_snapshot())::text as edge";
const UNSETTLED = `
  select exists (
    select from transition t, audit_head h
     where t.audit is not null and (t.xid, t.id) > (h.last_xid, h.last_id) and t.xid < $1::xid8
       and not exists (select from audit_event e where e.transition_id = t.id)) as unsettled`;

/**
 * Appends pending events. An event cannot be appended while an older transaction runs. The function waits at most about
 * a second for such transactions.
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

/** Returns the number and the hash of the newest event, or null before the first. */
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

/**
 * Lists events from the event after `after_seq` on, by default from event 0. An event that is not in the table is in
 * the archive. Events move to the archive in whole segments, and never move back.
 */
export async function listEvents(db: Db, query: { after_seq?: number; limit?: number }): Promise<AuditPage> {
  await settle(db);
  const { after_seq = -1, limit = AUDIT_PAGE_ROWS_DEFAULT } = query;
  const { rows } = await db.query<PageRow>(PAGE, [after_seq, limit]);
  const head = rows[0];
  const live = rows.filter((row) => row.seq !== null);
  const to = (live[0]?.seq ?? (head?.head_seq ?? -1) + 1) - 1;
  const archived = await archivedEvents(db, { from: after_seq + 1, to: Math.min(to, after_seq + limit) });
  return {
    next_before_seq: null,
    events: [...archived, ...live].slice(0, limit).map(toEvent),
    head: head === undefined || head.head_seq < 0 ? null : { seq: head.head_seq, hash: head.head_hash },
  };
}

/** Reads the archived events of a range, inclusive. */
async function archivedEvents(db: DbClient, { from, to }: { from: number; to: number }): Promise<StoredEvent[]> {
  const found: StoredEvent[] = [];
  for (let seq = from; seq <= to;) {
    const segment = await segmentOf(db, seq);
    if (segment === undefined) return found;
    found.push(...eventsOf(segment).filter((event) => event.seq >= from && event.seq <= to));
    seq = segment.last_seq + 1;
  }
  return found;
}

export type AuditSearch = {
  /** Only events below this number; absent: begins with the newest event. */
  readonly before_seq?: number;
  readonly limit?: number;
  /** The id of a user or a key. */
  readonly actor?: string;
  readonly action?: string;
  /** A part of the resource, such as a UUID. */
  readonly resource?: string;
  readonly request_id?: string;
  readonly decision?: string;
  /** Only events at or after `since`, and before `until`. Both times are in RFC 3339. */
  readonly since?: string;
  readonly until?: string;
  /** Only events of this tenant: the events of its users and keys, and permitted changes of its objects. */
  readonly tenant_id?: string;
  /**
   * Only events of this project and its objects. If an event does not name its project, it is found only while the VPC
   * or the route table that it names exists.
   */
  readonly project?: string;
};

/**
 * SQL that lists events. LIVE lists the events of a range in the table. ARCHIVED lists the archived events that are
 * passed as parameters.
 */
const LIVE = "select seq, canonical, hash, canonical::jsonb as event from audit_event where seq >= $1 and seq < $2";
const ARCHIVED = `
  select seq, canonical, hash, canonical::jsonb from unnest($13::bigint[], $14::text[], $15::text[])
         archived(seq, canonical, hash)`;

const searchIn = (events: string) => `
  select seq, canonical, hash
    from (${events}) e
   where ($4::text is null or $4 in (event->'actor'->>'user_id', event->'actor'->>'key_id'))
     and ($5::text is null or event->>'action' = $5)
     and ($6::text is null or event->>'resource' like $6)
     and ($7::text is null or event->>'request_id' = $7)
     and ($8::text is null or event->>'decision' = $8)
     and ($9::timestamptz is null or (event->>'ts')::timestamptz >= $9)
     and ($10::timestamptz is null or (event->>'ts')::timestamptz < $10)
     and ($11::uuid is null
          or event->'actor'->>'user_id' in (select id::text from user_account where tenant_id = $11)
          or event->'actor'->>'key_id' in (select id::text from api_key where tenant_id = $11)
          or (event->>'decision' = 'allow' and event->'payload'->>'tenant_id' = $11::text))
     and ($12::uuid is null
          or event->'payload'->>'project_id' = $12::text or event->>'resource' = format('Project::"%s"', $12)
          or event->'payload'->>'vpc_id' in (select id::text from vpc where project_id = $12)
          or event->'payload'->>'route_table_id' in (select id::text from route_table where project_id = $12))
   order by seq desc limit $3`;

/**
 * Lists the events that match, newest first. Reads at most AUDIT_SEARCH_EVENTS_MAX events, so that a search without a
 * match does not read the whole chain. The caller continues at `next_before_seq`.
 */
export async function searchEvents(db: Db, search: AuditSearch): Promise<AuditPage> {
  await settle(db);
  const head = await readHead(db);
  if (head === null) return { events: [], head, next_before_seq: null };
  const before = Math.min(search.before_seq ?? Infinity, head.seq + 1);
  const from = Math.max(0, before - AUDIT_SEARCH_EVENTS_MAX);
  const limit = search.limit ?? AUDIT_PAGE_ROWS_DEFAULT;
  const { actor, action, resource, request_id, decision, since, until, tenant_id, project } = search;
  const like = resource === undefined ? null : `%${resource.replace(/[\\%_]/g, "\\$&")}%`;
  const filters = [actor, action, like, request_id, decision, since, until, tenant_id, project].map((value) =>
    value ?? null
  );
  const rows = await db.withClient(async (client) => {
    await client.query("begin isolation level repeatable read read only");
    const archived = await archivedEvents(client, { from, to: Math.min(before - 1, await archivedTo(client)) });
    const params = [from, before, limit, ...filters];
    // If the range has no archived events, PostgreSQL reads the events by their number and stops when the page is full.
    const { rows: matching } = archived.length === 0
      ? await client.query<StoredEvent>(searchIn(LIVE), params)
      : await client.query<StoredEvent>(searchIn(`${LIVE} union all ${ARCHIVED}`), [
        ...params,
        archived.map(({ seq }) => seq),
        archived.map(({ canonical }) => canonical),
        archived.map(({ hash }) => hash),
      ]);
    await client.query("commit");
    return matching;
  });
  const last = rows.length === limit ? rows.at(-1)?.seq ?? from : from;
  return { events: rows.map(toEvent), head, next_before_seq: last === 0 ? null : last };
}

/** Returns one event, or null if the chain has no event with this number. */
export async function getEvent(db: Db, seq: number): Promise<AuditEvent | null> {
  await settle(db);
  const { rows } = await db.query<StoredEvent>("select seq, canonical, hash from audit_event where seq = $1", [seq]);
  const found = rows[0] ?? (await archivedEvents(db, { from: seq, to: seq }))[0];
  return found === undefined ? null : toEvent(found);
}

/** Builds the event from the hashed text, not from the columns, so that a reader can check the hash. */
function toEvent(row: StoredEvent): AuditEvent {
  try {
    return { ...JSON.parse(row.canonical), hash: row.hash };
  } catch (cause) {
    throw new Error(`the stored text of audit event ${row.seq} is not JSON; run opsctl audit verify`, { cause });
  }
}
