// Tests the audit chain: how events are appended, read and verified.
import { createHash, randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { AuditEvent } from "../../src/contract/audit.ts";
import { AuditPage, AuditVerification } from "../../src/contract/audit.ts";
import { chainPending } from "../../src/db/audit-chain.ts";
import { recordDenial } from "../../src/db/audit-denial.ts";
import { getEvent, listEvents } from "../../src/db/audit-read.ts";
import { verify } from "../../src/db/audit-verify.ts";
import { type Db, type DbClient, openPool, sqlState } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";

let database: FreshDatabase;
let owner: Db;
let app: Db;

beforeAll(async () => {
  database = await freshDatabase();
  owner = openPool({ url: database.url });
  app = openPool({ url: database.url, role: "berth_app" });
});

beforeEach(async () => {
  await owner.query("truncate audit_event, transition");
  await owner.query("update audit_head set seq = -1, hash = repeat('0', 64), last_xid = '0', last_id = 0");
});

afterAll(async () => {
  await app.close();
  await owner.close();
  await database.drop();
});

const NOTE = {
  actor: { kind: "system" },
  action: "cn_disable",
  resource: 'Cn::"1"',
  request_id: null,
  decision: "allow",
  outcome: { kind: "success", resource: null },
};

/** Inserts one audited transition for each payload in one transaction. */
async function mutate(db: DbClient, ...payloads: unknown[]): Promise<void> {
  await db.query(
    `insert into transition (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at, audit)
     select 'cn', '1', gen_random_uuid(), 1, 'disable', 'approved', 'disabled', gen_random_uuid(), berth_now(),
            $1::jsonb || jsonb_build_object('payload', p) from jsonb_array_elements($2::jsonb) p`,
    [JSON.stringify(NOTE), JSON.stringify(payloads)],
  );
}

async function mutateTimes(count: number): Promise<void> {
  await mutate(app, ...Array.from({ length: count }, (_, n) => ({ n })));
}

test("verify accepts a thousand events, and reports the event in which one byte was changed", async () => {
  await mutateTimes(1_000);
  expect(AuditVerification.parse(await verify(app))).toEqual({
    outcome: { Ok: { verified_to: 999 } },
    head: { seq: 999, hash: expect.any(String) },
  });
  await owner.query("update audit_event set canonical = replace(canonical, 'disable', 'disablE') where seq = 700");
  expect((await verify(app)).outcome).toEqual({
    Mismatch: { seq: 700, message: "the text does not match its hash" },
  });
});

test("listEvents begins with event 0 or with the event after after_seq, and returns at most limit events", async () => {
  await mutateTimes(250);
  const first = await listEvents(app, {});
  expect(AuditPage.parse(first).events.map(({ seq }) => seq)).toEqual(Array.from({ length: 100 }, (_, n) => n));
  expect(first.head?.seq).toBe(249);
  const next = await listEvents(app, { after_seq: 0, limit: 2 });
  expect(next.events.map(({ seq }) => seq)).toEqual([1, 2]);
  expect((await listEvents(app, { after_seq: 249 })).events).toEqual([]);
});

test("an empty chain has no head and no events, and verify accepts it", async () => {
  expect(await listEvents(app, {})).toEqual({ events: [], head: null, next_before_seq: null });
  expect(await verify(app)).toEqual({ outcome: { Ok: { verified_to: null } }, head: null });
  expect(await getEvent(app, 0)).toBeNull();
});

test("the returned event contains everything that a reader needs to compute its hash", async () => {
  await mutate(app, { b: 0.1, a: [1e21, 1e-7, -0, 1.50], text: 'é "\u2028' }, 0.30000000000000004, null);
  const { events, head } = await listEvents(app, {});
  let before = "0".repeat(64);
  for (const { hash, ...event } of events) {
    expect(event.prev_hash).toBe(before);
    expect(createHash("sha256").update(sortedJson(event)).digest("hex")).toBe(hash);
    before = hash;
  }
  expect(head).toEqual({ seq: 2, hash: before });
  expect(events[0]!.payload).toEqual({ a: [1e21, 1e-7, 0, 1.5], b: 0.1, text: 'é "\u2028' });
  expect(await getEvent(app, 1)).toEqual(events[1]);
  expect(await getEvent(app, 3)).toBeNull();
});

/** A second implementation of canonical JSON. A difference from the server's implementation fails the test. */
function sortedJson(value: unknown): string {
  return JSON.stringify(
    value,
    (_key, part) =>
      part !== null && typeof part === "object" && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
        : part,
  );
}

test("an event is chained only when every older transaction has ended and its events are chained", async () => {
  await app.withClient(async (slow) => {
    await slow.query("begin");
    await mutate(slow, "began first");
    await mutate(app, "committed first");
    expect(await chainPending(app)).toBe(0);
    await slow.query("commit");
  });
  const { events } = await listEvents(app, {});
  expect(events.map(({ payload }) => payload)).toEqual(["began first", "committed first"]);
});

test("a change of a record does not wait for the lock of the chain", async () => {
  await owner.withClient(async (holder) => {
    await holder.query("begin");
    await holder.query("select pg_advisory_xact_lock(hashtextextended('berth:audit_chain', 0))");
    await mutate(app, "meanwhile");
    await holder.query("rollback");
  });
  expect((await listEvents(app, {})).events).toHaveLength(1);
});

test("several processes that chain events at the same time build one chain without gaps", async () => {
  const other = openPool({ url: database.url, role: "berth_app" });
  const writers = Array.from({ length: 20 }, async (_, n) => {
    await mutate(app, n);
    await chainPending(n % 2 === 0 ? app : other, 3);
  });
  await Promise.all(writers);
  const { events } = await listEvents(other, {});
  await other.close();
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  expect(events.map(({ payload }) => payload as number).sort((a, b) => a - b)).toEqual(events.map(({ seq }) => seq));
  expect((await verify(app)).outcome).toEqual({ Ok: { verified_to: 19 } });
});

test("the chain continues after a dump is restored into a cluster with lower transaction ids", async () => {
  await mutate(app, "chained before the dump");
  await chainAll(1);
  await mutate(app, "not yet chained in the dump");
  await owner.query("update transition set xid = (1000000000000 + id)::text::xid8");
  await owner.query("update audit_head set last_xid = '1000000000001'");
  await mutate(app, "written after the restore");
  // The order of these two events depends on other transactions in the cluster.
  const [first, ...rest] = await payloads();
  expect(first).toBe("chained before the dump");
  expect(rest.sort()).toEqual(["not yet chained in the dump", "written after the restore"]);
  await mutate(app, "and later");
  expect((await payloads()).at(-1)).toBe("and later");
  expect((await verify(app)).outcome).toEqual({ Ok: { verified_to: 3 } });
});

async function chainAll(events: number): Promise<void> {
  expect((await listEvents(app, {})).events).toHaveLength(events);
}

async function payloads(): Promise<unknown[]> {
  return (await listEvents(app, {})).events.map(({ payload }) => payload);
}

test("verify of a range checks the links to the events before and after the range, and ignores changes elsewhere", async () => {
  await mutateTimes(10);
  expect((await verify(app, { from: 3, to: 6 })).outcome).toEqual({ Ok: { verified_to: 6 } });
  expect((await verify(app, { from: 3, to: 600 })).outcome).toEqual({ Ok: { verified_to: 9 } });
  expect((await verify(app, { from: 10 })).outcome).toEqual({ Ok: { verified_to: null } });
  await rewrite(6);
  expect((await verify(app, { from: 3, to: 5 })).outcome).toEqual({ Ok: { verified_to: 5 } });
  expect((await verify(app, { from: 3, to: 6 })).outcome).toMatchObject({ Mismatch: { seq: 6 } });
});

test("verify compares the last event with the hash in the head, and reports a missing event as missing", async () => {
  await mutateTimes(10);
  await chainAll(10);
  await rewrite(9);
  expect((await verify(app)).outcome).toEqual({
    Mismatch: { seq: 9, message: "the hash differs from the hash in the head" },
  });
  await owner.query("delete from audit_event where seq in (4, 9)");
  expect((await verify(app)).outcome).toEqual({ Mismatch: { seq: 4, message: "the event is missing" } });
  expect((await verify(app, { from: 5 })).outcome).toEqual({ Mismatch: { seq: 4, message: "the event is missing" } });
  expect((await verify(app, { from: 6 })).outcome).toEqual({ Mismatch: { seq: 9, message: "the event is missing" } });
});

/** Changes the text of an event and updates the event's hash. */
async function rewrite(seq: number): Promise<void> {
  await owner.query(
    `update audit_event e set canonical = n.text, hash = encode(sha256(convert_to(n.text, 'UTF8')), 'hex')
       from (select replace(canonical, 'cn_disable', 'cn_remove') as text from audit_event where seq = $1) n where seq = $1`,
    [seq],
  );
}

const EVENTS = 24;
const tamperings: Readonly<Record<string, (seq: number) => Promise<unknown>>> = {
  flip: (seq) =>
    owner.query("update audit_event set canonical = overlay(canonical placing '~' from 9) where seq = $1", [seq]),
  rewrite,
  delete: (seq) => owner.query("delete from audit_event where seq = $1", [seq]),
  truncate: (seq) => owner.query("delete from audit_event where seq >= $1", [seq]),
  relink: (seq) => owner.query("update audit_event set prev_hash = repeat('f', 64) where seq = $1", [seq]),
  swap: async (seq) => {
    const next = (seq + 1) % EVENTS;
    await owner.query("update audit_event set seq = seq + 1000 where seq in ($1, $2)", [seq, next]);
    await owner.query("update audit_event set seq = case seq when $1 + 1000 then $2 else $1 end where seq >= 1000", [
      seq,
      next,
    ]);
  },
  insert: async (seq) => {
    await owner.query("update audit_event set seq = seq + 1000 where seq >= $1", [seq]);
    await owner.query("update audit_event set seq = seq - 999 where seq >= 1000");
    await owner.query(
      `insert into audit_event select $1, -1, canonical, prev_hash, hash from audit_event order by seq limit 1`,
      [seq],
    );
  },
  append: () =>
    owner.query(
      `insert into audit_event select ${EVENTS}, -1, canonical, prev_hash, hash from audit_event where seq = 0`,
    ),
};

test("S-39: verify finds every kind of tampering at random positions", async () => {
  await mutateTimes(EVENTS);
  expect((await verify(app)).outcome).toEqual({ Ok: { verified_to: EVENTS - 1 } });
  await owner.query("create table untouched as select * from audit_event");
  const found = fc.asyncProperty(
    fc.constantFrom(...Object.keys(tamperings)),
    fc.nat(EVENTS - 1),
    async (kind, seq) => {
      await tamperings[kind]!(seq);
      const { outcome } = await verify(app);
      await owner.query("delete from audit_event");
      await owner.query("insert into audit_event select * from untouched");
      expect(outcome).toHaveProperty("Mismatch");
    },
  );
  await fc.assert(found, { numRuns: 80 });
  expect((await verify(app)).outcome).toEqual({ Ok: { verified_to: EVENTS - 1 } });
});

test("S-37: the server's database role cannot change or delete transitions and audit events", async () => {
  await mutateTimes(1);
  await chainAll(1);
  const forbidden = [
    "update transition set event = 'x'",
    "delete from transition",
    "truncate transition",
    "update audit_event set canonical = '{}'",
    "delete from audit_event",
    "truncate audit_event",
    "delete from audit_head",
    "insert into audit_head values (true, 0, repeat('0', 64), '0', 0)",
  ];
  for (const sql of forbidden) {
    expect(sqlState(await app.query(sql).catch((error) => error)), sql).toBe("42501");
  }
});

test("a denial that is recorded several times becomes one event, and NUL and unpaired surrogates in it are replaced with U+FFFD", async () => {
  const denial = {
    msg_id: randomUUID(),
    request_id: randomUUID(),
    actor: { kind: "api_key", key_id: "k", user_id: "u" },
    action: "cn_approve",
    resource: null,
    payload: { code_prefix: "AB\0", half: "\ud800" },
  } as const;
  await recordDenial(app, denial);
  await recordDenial(app, denial);
  const { events } = await listEvents(app, {});
  const expected: Partial<AuditEvent> = {
    actor: denial.actor,
    action: "cn_approve",
    request_id: denial.request_id,
    decision: "deny",
    outcome: { kind: "forbidden" },
    payload: { code_prefix: "AB\uFFFD", half: "\uFFFD" },
  };
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject(expected);
});
