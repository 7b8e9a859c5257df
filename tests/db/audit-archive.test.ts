// Tests the audit archive and the retention of the transition log: the events that move, the rows that are kept, and
// the result of a later verification.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { behaviors } from "../../actors/registry.ts";
import { createAuditSigner } from "../../src/auth/audit-signature.ts";
import { AUDIT_SEGMENT_EVENTS, LOG_RETENTION_S_MIN } from "../../src/contract/limits.ts";
import { archiveAudit, findSegment } from "../../src/db/audit-archive.ts";
import { chainPending } from "../../src/db/audit-chain.ts";
import { getEvent, listEvents, searchEvents } from "../../src/db/audit-read.ts";
import { verify } from "../../src/db/audit-verify.ts";
import { type Db, openPool, sqlState } from "../../src/db/pool.ts";
import { invariants } from "../../src/doctor/invariants.ts";
import { sealFlaw } from "../../src/lib/crypto/audit-segment.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { brokenInvariants } from "../doctor/broken.ts";

const DAY_S = 86_400;
const OLD_DAYS = 100;
const SWEPT = ["job"];
const signer = createAuditSigner(randomBytes(32));

let database: FreshDatabase;
let owner: Db;
let app: Db;

beforeAll(async () => {
  database = await freshDatabase();
  owner = openPool({ url: database.url });
  app = openPool({ url: database.url, role: "berth_app" });
});

beforeEach(async () => {
  await owner.query("truncate audit_event, audit_segment, transition, silo, tenant cascade");
  await owner.query("update audit_head set seq = -1, hash = repeat('0', 64), last_xid = '0', last_id = 0");
  await owner.query("update log_retention set next_id = 0, dropped_before = null");
});

afterAll(async () => {
  await app.close();
  await owner.close();
  await database.drop();
});

/**
 * Adds an audited transition of a denied request for each number from `from` to `to`. The payload has the number. The
 * transitions are `days` days old. Waits until the chain has their events.
 */
async function denied(from: number, to: number, days = OLD_DAYS): Promise<void> {
  await app.query(
    `insert into transition (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at, audit)
     select 'request', gen_random_uuid()::text, gen_random_uuid(), 1, 'deny', 'none', 'none', gen_random_uuid(),
            berth_now() - make_interval(days => $3),
            jsonb_build_object('actor', jsonb_build_object('kind', 'anonymous'), 'action', 'cn_list', 'resource', null,
              'request_id', null, 'decision', 'deny', 'outcome', jsonb_build_object('kind', 'forbidden'),
              'payload', jsonb_build_object('n', n))
       from generate_series($1::int, $2::int) n`,
    [from, to, days],
  );
  // An event is appended only when no older transaction runs. Transactions in the databases of other tests on this
  // server count, too.
  let left = to - from + 1;
  await expect.poll(async () => left -= await chainPending(app), { timeout: 20_000 }).toBeLessThanOrEqual(0);
}

const stored = async () =>
  (await owner.query<{ live: number; segments: number; audited: number }>(
    `select (select count(*)::int from audit_event) as live, (select count(*)::int from audit_segment) as segments,
            (select count(*)::int from transition where audit is not null) as audited`,
  )).rows[0];

async function archiveTwo(): Promise<void> {
  await denied(0, 2 * AUDIT_SEGMENT_EVENTS + 9);
  expect(await archiveAudit(app, signer, DAY_S)).toBe(2);
}

const verified = (key: string | null = signer.public_key) => verify(app, {}, key).then(({ outcome }) => outcome);

test("old events move to the archive in whole segments, and the chain can still be verified, read and extended", async () => {
  await archiveTwo();
  expect(await stored()).toEqual({ live: 10, segments: 2, audited: 10 });
  expect(await verified()).toEqual({ Ok: { verified_to: 2_009 } });
  expect((await verify(app, { from: 500, to: 1_500 }, signer.public_key)).outcome).toEqual({
    Ok: { verified_to: 1_500 },
  });
  expect((await getEvent(app, 1_234))?.payload).toEqual({ n: 1_234 });
  const page = await listEvents(app, { after_seq: 1_989, limit: 15 });
  expect(page.events.map(({ seq }) => seq)).toEqual(Array.from({ length: 15 }, (_, place) => 1_990 + place));
  const all = await listEvents(app, { limit: 1_000 });
  expect(all.events.map(({ payload }) => (payload as { n: number }).n)).toEqual(
    Array.from({ length: 1_000 }, (_, n) => n),
  );
  const found = await searchEvents(app, { action: "cn_list", before_seq: 2_003, limit: 5 });
  expect(found.events.map(({ seq }) => seq)).toEqual([2_002, 2_001, 2_000, 1_999, 1_998]);
  await denied(2_010, 2_010, 0);
  expect(await verified()).toEqual({ Ok: { verified_to: 2_010 } });
  expect(await brokenInvariants(owner, invariants(behaviors).filter(({ id }) => id === "INV-17"))).toEqual([]);
});

test("young events, an incomplete segment and the newest event do not move to the archive", async () => {
  await denied(0, AUDIT_SEGMENT_EVENTS - 1);
  expect(await archiveAudit(app, signer, DAY_S)).toBe(0);
  await denied(AUDIT_SEGMENT_EVENTS, AUDIT_SEGMENT_EVENTS, 0);
  expect(await archiveAudit(app, signer, (OLD_DAYS + 1) * DAY_S)).toBe(0);
  expect(await archiveAudit(app, signer, DAY_S)).toBe(1);
});

test("verify finds a segment with a changed content, hash, signature or number, a missing segment, and another key", async () => {
  await archiveTwo();
  const changes = [
    "update audit_segment set content = convert_to(replace(convert_from(content, 'UTF8'), 'cn_list', 'cn_lisT'), 'UTF8')",
    "update audit_segment set last_hash = repeat('1', 64)",
    "update audit_segment set prev_hash = repeat('1', 64)",
    "update audit_segment set signature = (select signature from audit_segment where number = 0) where number = 1",
    "update audit_segment set number = number + 7",
    "delete from audit_segment where number = 0",
    "delete from audit_segment where number = 1",
  ];
  for (const change of changes) {
    await owner.query("create table kept as select * from audit_segment");
    await owner.query(change);
    expect([change, await verified()]).toEqual([change, { Mismatch: expect.anything() }]);
    await owner.query("truncate audit_segment");
    await owner.query("insert into audit_segment select * from kept");
    await owner.query("drop table kept");
  }
  expect(await verified()).toEqual({ Ok: { verified_to: 2_009 } });
  expect(await verified("00".repeat(32))).toEqual({
    Mismatch: { seq: 0, message: expect.stringContaining("another key") },
  });
  const segment = (await findSegment(app, 1))!;
  expect(sealFlaw(segment, segment.content, signer.public_key)).toBeNull();
});

test("the archive removes no event if an event was changed, or if the digest or the range is wrong", async () => {
  await denied(0, AUDIT_SEGMENT_EVENTS + 1);
  const archive = (first: number, last: number) =>
    app.query("select audit_archive($1, $2, $3, 'k', 's')", [first, last, "0".repeat(64)]).then(() => "done", sqlState);
  expect(await archive(0, 9)).toBe("P0001");
  expect(await archive(1, 9)).toBe("P0001");
  expect(await archive(0, AUDIT_SEGMENT_EVENTS + 1)).toBe("P0001");
  await owner.query("update audit_event set canonical = replace(canonical, 'cn_list', 'cn_lisT') where seq = 700");
  await expect(archiveAudit(app, signer, DAY_S)).rejects.toThrow("do not verify");
  expect(await stored()).toEqual({ live: 1_002, segments: 0, audited: 1_002 });
  expect(await app.query("delete from audit_segment").catch(sqlState)).toBe("42501");
});

/** Adds unaudited transitions of one actor. Does not create the row of the actor. */
const logged = (kind: string, states: readonly string[], days: number) =>
  app.query(
    `with actor as (select gen_random_uuid() as id)
     insert into transition (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at)
     select $1, id::text, id, n, 'change', coalesce(($2::text[])[n - 1], 'absent'), ($2::text[])[n], gen_random_uuid(),
            berth_now() - make_interval(days => $3)
       from actor, generate_series(1, cardinality($2::text[])) n`,
    [kind, states, days],
  );

const drop = async (rows = 100) =>
  (await app.query<{ more: boolean }>("select log_drop($1, $2, $3) as more", [LOG_RETENTION_S_MIN, rows, SWEPT]))
    .rows[0]!.more;
const left = async () =>
  (await owner.query<{ what: string }>(
    "select actor_kind || ' ' || seq || ' ' || to_state as what from transition order by id",
  )).rows.map(({ what }) => what);

test("old transitions are deleted, except the last transition of each record that was not deleted", async () => {
  await logged("vpc", ["live", "live", "live"], OLD_DAYS);
  await logged("vpc", ["live", "absent"], OLD_DAYS);
  await logged("job", ["pending", "completed"], OLD_DAYS);
  await logged("vpc", ["live", "live"], 1);
  expect(await drop()).toBe(false);
  expect(await left()).toEqual(["vpc 3 live", "vpc 1 live", "vpc 2 live"]);
  const numbered = invariants(behaviors).filter(({ title }) =>
    title.startsWith("the transitions of each actor") || title.startsWith("each transition starts")
  );
  expect(numbered).toHaveLength(2);
  expect(await brokenInvariants(owner, numbered)).toEqual([]);
});

test("a sweep reads a limited number of rows, and the next sweep continues after them, or begins again after the last row", async () => {
  for (let actor = 0; actor < 3; actor++) await logged("vpc", ["live", "live"], OLD_DAYS);
  expect([await drop(4), (await left()).length]).toEqual([true, 4]);
  expect([await drop(4), (await left()).length]).toEqual([false, 3]);
  expect([await drop(4), (await left()).length]).toEqual([false, 3]);
  expect((await owner.query("select next_id from log_retention")).rows).toEqual([{ next_id: 0 }]);
});

test("a transition whose audit entry is not archived is kept, and so are the later transitions of its actor", async () => {
  await logged("vpc", ["live", "live", "absent"], OLD_DAYS);
  await owner.query("update transition set audit = '{}' where seq = 2");
  await drop();
  expect(await left()).toEqual(["vpc 2 live", "vpc 3 absent"]);
  await owner.query("update transition set audit = null");
  await drop();
  await drop();
  expect(await left()).toEqual([]);
});
