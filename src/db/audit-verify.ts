// Verifies the audit chain in one database snapshot, chunk by chunk. It detects events that were changed, removed,
// reordered or inserted, events missing before the head or present after it, and a text that does not match its hash.
// If the whole chain was rewritten together with its head, only a copy of the head that is kept elsewhere reveals it.
import type { AuditHead, AuditVerification } from "../contract/audit.ts";
import { GENESIS_HASH, sha256 } from "./audit-chain.ts";
import { readHead, settle } from "./audit-read.ts";
import type { Db, DbClient } from "./pool.ts";

type Stored = { readonly seq: number; readonly canonical: string; readonly prev_hash: string; readonly hash: string };
type Mismatch = { readonly seq: number; readonly message: string };

const CHUNK_ROWS = 1_000;
/** Longer than the statements of other requests: docs/limits.md. */
const STATEMENT_LIMIT = "set local statement_timeout = '60s'";
const CHUNK =
  "select seq, canonical, prev_hash, hash from audit_event where seq >= $1 and seq <= $2 order by seq limit $3";

/**
 * Verifies the events from number `from` to number `to`, inclusive; by default all events. `verified_to` is null when
 * the range contains no event.
 */
export async function verify(db: Db, range: { from?: number; to?: number } = {}): Promise<AuditVerification> {
  await settle(db);
  return await db.withClient(async (client) => {
    await client.query("begin isolation level repeatable read read only");
    await client.query(STATEMENT_LIMIT);
    const head = await readHead(client);
    const from = range.from ?? 0;
    const to = Math.min(range.to ?? Infinity, head?.seq ?? -1);
    const mismatch = await checkRange(client, head, { from, to });
    await client.query("commit");
    if (mismatch !== null) return { outcome: { Mismatch: mismatch }, head };
    return { outcome: { Ok: { verified_to: from <= to ? to : null } }, head };
  });
}

async function checkRange(
  client: DbClient,
  head: AuditHead | null,
  range: { from: number; to: number },
): Promise<Mismatch | null> {
  const { from, to } = range;
  if (from <= to) {
    const before = await hashBefore(client, from);
    if (before === null) return { seq: from - 1, message: "the event is missing" };
    const last = await checkEvents(client, before, range);
    if (typeof last !== "string") return last;
    if (to === head?.seq && last !== head.hash) return { seq: to, message: "the hash differs from the head's" };
    if (to !== head?.seq) return await checkNext(client, to + 1, last);
  }
  const { rows } = await client.query<{ seq: number }>(
    "select seq from audit_event where seq > $1 order by seq limit 1",
    [head?.seq ?? -1],
  );
  return rows[0] === undefined ? null : { seq: rows[0].seq, message: "the event is beyond the head" };
}

/** Returns the hash that event `seq` must have as its prev_hash; null when the previous event is missing. */
async function hashBefore(client: DbClient, seq: number): Promise<string | null> {
  if (seq === 0) return GENESIS_HASH;
  const { rows } = await client.query<Stored>(CHUNK, [seq - 1, seq - 1, 1]);
  return rows[0]?.hash ?? null;
}

/** Checks the events of the range. Returns the hash of the last event, or the first mismatch. */
async function checkEvents(
  client: DbClient,
  before: string,
  range: { from: number; to: number },
): Promise<string | Mismatch> {
  let hash = before;
  let seq = range.from;
  while (seq <= range.to) {
    const { rows } = await client.query<Stored>(CHUNK, [seq, range.to, CHUNK_ROWS]);
    if (rows.length === 0) return { seq, message: "the event is missing" };
    for (const row of rows) {
      const message = flaw(row, seq, hash);
      if (message !== null) return { seq, message };
      hash = row.hash;
      seq++;
    }
  }
  return hash;
}

/** The event after the range contains the hash of the range's last event, so it shows whether that event was rewritten. */
async function checkNext(client: DbClient, seq: number, hash: string): Promise<Mismatch | null> {
  const { rows } = await client.query<Stored>(CHUNK, [seq, seq, 1]);
  if (rows[0] === undefined) return { seq, message: "the event is missing" };
  return rows[0].prev_hash === hash
    ? null
    : { seq: seq - 1, message: "the next event's prev_hash differs from this event's hash" };
}

function flaw(row: Stored, seq: number, before: string): string | null {
  if (row.seq !== seq) return "the event is missing";
  if (sha256(row.canonical) !== row.hash) return "the text does not match its hash";
  if (row.prev_hash !== before) return "prev_hash is not the hash of the event before";
  const event = parsed(row.canonical);
  if (event?.seq !== seq) return "the text belongs to another event";
  if (event.prev_hash !== before) return "the text names another prev_hash";
  return null;
}

function parsed(text: string): { seq?: unknown; prev_hash?: unknown } | null {
  try {
    return JSON.parse(text);
  } catch {
    return null; // The hash matches, but the text is not an event: the caller reports it.
  }
}
