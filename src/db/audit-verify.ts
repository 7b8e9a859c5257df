// Verifies the audit chain in one database snapshot, chunk by chunk: first the segments of the archive with their
// signatures, then the events after them. It detects events that were changed, removed, reordered or inserted, and
// texts that do not match their hashes. It also detects missing events before the head, and events after the head. If
// the events after the archive were rewritten together with the head, only a copy of the head that is kept elsewhere
// reveals the change.
import type { AuditHead, AuditVerification } from "../contract/audit.ts";
import { eventsOf, segmentFlaw, segmentOf, type StoredEvent as Stored } from "./audit-archive.ts";
import { GENESIS_HASH, sha256 } from "./audit-chain.ts";
import { readHead, settle } from "./audit-read.ts";
import type { Db, DbClient } from "./pool.ts";

type Range = { readonly from: number; readonly to: number; readonly public_key: string | null };
type Mismatch = { readonly seq: number; readonly message: string };

const CHUNK_ROWS = 1_000;
/** This time limit is longer than the limit of other requests' statements (docs/limits.md). */
const STATEMENT_LIMIT = "set local statement_timeout = '60s'";
const CHUNK =
  "select seq, canonical, prev_hash, hash from audit_event where seq >= $1 and seq <= $2 order by seq limit $3";

/**
 * Verifies the events from number `from` to number `to`, inclusive; by default all events. `verified_to` is null when
 * the range contains no event.
 * @param public_key the key that must have signed the segments of the archive; null for any key
 */
export async function verify(
  db: Db,
  range: { from?: number; to?: number } = {},
  public_key: string | null = null,
): Promise<AuditVerification> {
  await settle(db);
  return await db.withClient(async (client) => {
    await client.query("begin isolation level repeatable read read only");
    await client.query(STATEMENT_LIMIT);
    const head = await readHead(client);
    const from = range.from ?? 0;
    const to = Math.min(range.to ?? Infinity, head?.seq ?? -1);
    const mismatch = await checkRange(client, head, { from, to, public_key });
    await client.query("commit");
    if (mismatch !== null) return { outcome: { Mismatch: mismatch }, head };
    return { outcome: { Ok: { verified_to: from <= to ? to : null } }, head };
  });
}

async function checkRange(
  client: DbClient,
  head: AuditHead | null,
  range: Range,
): Promise<Mismatch | null> {
  const { from, to } = range;
  if (from <= to) {
    const before = await hashBefore(client, from);
    if (before === null) return { seq: from - 1, message: "the event is missing" };
    const last = await checkEvents(client, before, range);
    if (typeof last !== "string") return last;
    if (to === head?.seq && last !== head.hash) {
      return { seq: to, message: "the hash differs from the hash in the head" };
    }
    if (to !== head?.seq) return await checkNext(client, to + 1, last);
  }
  const { rows } = await client.query<{ seq: number }>(
    "select seq from audit_event where seq > $1 order by seq limit 1",
    [head?.seq ?? -1],
  );
  return rows[0] === undefined ? null : { seq: rows[0].seq, message: "the event comes after the head" };
}

/** Returns the hash that event `seq` must have as its prev_hash; null when the previous event is missing. */
async function hashBefore(client: DbClient, seq: number): Promise<string | null> {
  if (seq === 0) return GENESIS_HASH;
  return (await readEvent(client, seq - 1))?.hash ?? null;
}

/** Returns the next events of the range, or what is wrong with the segment that contains the first of them. */
async function readChunk(
  client: DbClient,
  seq: number,
  { to, public_key }: Range,
): Promise<readonly Stored[] | string> {
  const { rows } = await client.query<Stored>(CHUNK, [seq, to, CHUNK_ROWS]);
  if (rows[0]?.seq === seq) return rows;
  const segment = await segmentOf(client, seq);
  if (segment === undefined) return rows;
  return segmentFlaw(segment, public_key) ?? eventsOf(segment).filter((event) => event.seq >= seq && event.seq <= to);
}

async function readEvent(client: DbClient, seq: number): Promise<Stored | undefined> {
  const { rows } = await client.query<Stored>(CHUNK, [seq, seq, 1]);
  if (rows[0] !== undefined) return rows[0];
  const segment = await segmentOf(client, seq);
  return segment && eventsOf(segment).find((event) => event.seq === seq);
}

/** Checks the events of the range. Returns the hash of the last event, or the first mismatch. */
async function checkEvents(
  client: DbClient,
  before: string,
  range: Range,
): Promise<string | Mismatch> {
  let hash = before;
  let seq = range.from;
  while (seq <= range.to) {
    const rows = await readChunk(client, seq, range);
    if (typeof rows === "string") return { seq, message: rows };
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

/**
 * Checks the event after the range. It contains the hash of the range's last event, and so shows whether that last
 * event was rewritten.
 */
async function checkNext(client: DbClient, seq: number, hash: string): Promise<Mismatch | null> {
  const next = await readEvent(client, seq);
  if (next === undefined) return { seq, message: "the event is missing" };
  return next.prev_hash === hash
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
    return null; // The hash matches, but the text is not an event. The caller reports this.
  }
}
