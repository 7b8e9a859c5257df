// Archives the audit chain: moves the oldest events into signed segments, and reads the segments. The SQL function
// audit_archive checks the order and the hashes again before it removes an event from the table audit_event.
import { AUDIT_SEGMENT_EVENTS, AUDIT_SEGMENTS_PER_PASS } from "../contract/limits.ts";
import { digestOf, sealFlaw, type SignedSegment, statementText, textsIn } from "../lib/crypto/audit-segment.ts";
import { GENESIS_HASH, sha256 } from "./audit-chain.ts";
import type { Db, DbClient } from "./pool.ts";

export type AuditSigner = { readonly public_key: string; sign(statement: string): string };

export type StoredSegment = SignedSegment & { readonly content: string };

/** An event as it is stored, in the table or in a segment. */
export type StoredEvent = {
  readonly seq: number;
  readonly canonical: string;
  readonly prev_hash: string;
  readonly hash: string;
};

const END = `
  select coalesce(max(last_seq), -1) as last_seq, coalesce(max(number), -1) as number,
         (array_agg(last_hash order by number desc))[1] as last_hash
    from (select * from audit_segment order by number desc limit 1) s`;
/**
 * Selects the last event of the next segment. Returns no row if this event is too new, is the newest event, or is still
 * needed to create deliveries of webhooks.
 */
const READY = `
  select e.seq from audit_event e, audit_head h, webhook_cursor w where e.seq = $1 and e.seq < h.seq
     and (e.seq <= w.seq or not exists (select from webhook))
     and (e.canonical::jsonb->>'ts')::timestamptz < (select berth_now()) - make_interval(secs => $2)`;
const EVENTS = "select canonical, hash from audit_event where seq between $1 and $2 order by seq";

/**
 * Moves whole segments of events that are older than `after_s` into the archive, at most AUDIT_SEGMENTS_PER_PASS.
 * Returns the number of segments that it moved. If two processes move the same segment at the same time, the segment is
 * archived once, and the later process throws an error.
 */
export async function archiveAudit(db: Db, signer: AuditSigner, after_s: number): Promise<number> {
  for (let archived = 0; archived < AUDIT_SEGMENTS_PER_PASS; archived++) {
    if (!await archiveSegment(db, signer, after_s)) return archived;
  }
  return AUDIT_SEGMENTS_PER_PASS;
}

async function archiveSegment(db: Db, signer: AuditSigner, after_s: number): Promise<boolean> {
  const { rows: [end] } = await db.query<{ last_seq: number; number: number; last_hash: string | null }>(END);
  const first_seq = end!.last_seq + 1;
  const last_seq = end!.last_seq + AUDIT_SEGMENT_EVENTS;
  if ((await db.query(READY, [last_seq, after_s])).rows.length === 0) return false;
  const { rows } = await db.query<{ canonical: string; hash: string }>(EVENTS, [first_seq, last_seq]);
  const digest = digestOf(rows.map(({ canonical }) => `${canonical}\n`).join(""));
  const statement = statementText({
    number: end!.number + 1,
    first_seq,
    last_seq,
    prev_hash: end!.last_hash ?? GENESIS_HASH,
    last_hash: rows.at(-1)?.hash ?? "",
    sha256: digest,
  });
  await db.query("select audit_archive($1, $2, $3, $4, $5)", [
    first_seq,
    last_seq,
    digest,
    signer.public_key,
    signer.sign(statement),
  ]);
  return true;
}

const COLUMNS = "number, first_seq, last_seq, prev_hash, last_hash, sha256, public_key, signature, archived_at";
const CONTENT = "convert_from(content, 'UTF8') as content";

/** Returns the number of the last archived event; -1 when the archive is empty. */
export async function archivedTo(db: DbClient): Promise<number> {
  const { rows } = await db.query<{ last: number }>("select coalesce(max(last_seq), -1) as last from audit_segment");
  return rows[0]!.last;
}

/** Returns the segment with this event, or undefined. */
export async function segmentOf(db: DbClient, seq: number): Promise<StoredSegment | undefined> {
  const sql = `select ${COLUMNS}, ${CONTENT} from audit_segment where first_seq <= $1 and last_seq >= $1
                order by first_seq desc limit 1`;
  return (await db.query<StoredSegment>(sql, [seq])).rows[0];
}

/** Returns a segment by its number. */
export async function findSegment(
  db: DbClient,
  number: number,
): Promise<StoredSegment & { archived_at: Date } | undefined> {
  const sql = `select ${COLUMNS}, ${CONTENT} from audit_segment where number = $1`;
  return (await db.query<StoredSegment & { archived_at: Date }>(sql, [number])).rows[0];
}

/** Lists segments after a number, without their content. */
export async function listSegments(
  db: DbClient,
  { after, rows }: { readonly after: number; readonly rows: number },
): Promise<(SignedSegment & { archived_at: Date })[]> {
  const sql = `select ${COLUMNS} from audit_segment where number > $1 order by number limit $2`;
  return (await db.query<SignedSegment & { archived_at: Date }>(sql, [after, rows])).rows;
}

/**
 * Returns the events of a segment. `prev_hash` is the hash in the event's own text. `hash` is computed from this text.
 */
export function eventsOf(segment: StoredSegment): StoredEvent[] {
  return textsIn(segment.content).map((canonical, place) => ({
    seq: segment.first_seq + place,
    canonical,
    prev_hash: prevHashIn(canonical),
    hash: sha256(canonical),
  }));
}

/** Returns what is wrong with a segment itself, or null. The caller checks the chain of the segment's events. */
export function segmentFlaw(segment: StoredSegment, public_key: string | null): string | null {
  const events = eventsOf(segment);
  const seal = sealFlaw(segment, segment.content, public_key);
  if (seal !== null) return seal;
  const whole = events.length === segment.last_seq - segment.first_seq + 1 &&
    events[0]?.prev_hash === segment.prev_hash && events.at(-1)?.hash === segment.last_hash;
  return whole ? null : `segment ${segment.number} does not have the events that its statement names`;
}

function prevHashIn(canonical: string): string {
  try {
    return String(JSON.parse(canonical).prev_hash);
  } catch {
    return ""; // No hash is empty, so the caller reports a mismatch.
  }
}
