// Tests signals: heartbeats, reports and the uses of keys. Signals are stored in batches.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Db, openPool } from "../../src/db/pool.ts";
import { createSignalBatch, type Entry } from "../../src/db/signal-batch.ts";
import { createSignals } from "../../src/db/signals.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";

let database: FreshDatabase;
let db: Db;
let statements = 0;
/** The pool `db`, wrapped so that it counts its statements. */
let counted: Db;

beforeAll(async () => {
  database = await freshDatabase();
  db = openPool({ url: database.url, role: "berth_app" });
  counted = { ...db, query: (sql, params) => (statements++, db.query(sql, params)) };
});

beforeEach(async () => {
  statements = 0;
  await db.query("delete from cn");
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

async function node(): Promise<string> {
  const { rows } = await db.query(
    `insert into cn (server_uuid, incarnation, version, state, hostname, role, sysinfo, registered_at)
     values (gen_random_uuid(), gen_random_uuid(), 1, 'pending', 'n', 'tenant', '{}', berth_now()) returning server_uuid`,
  );
  return rows[0].server_uuid;
}

async function signalOf(server_uuid: string) {
  const { rows } = await db.query(
    "select * from cn_signal left join cn_capacity using (server_uuid) where server_uuid = $1",
    [
      server_uuid,
    ],
  );
  return rows[0];
}

test("a signal is stored before it is acknowledged, and the signals of many nodes share one statement", async () => {
  const signals = createSignals(counted, { flush_ms: 5 });
  const nodes = await Promise.all(Array.from({ length: 50 }, node));
  const answers = await Promise.all(nodes.map((server_uuid) => signals.heartbeat(server_uuid)));
  expect(answers).toEqual(nodes.map(() => null));
  expect(statements).toBe(1);
  const { rows } = await db.query("select count(*) from cn_signal where last_seen > berth_now() - interval '10 s'");
  expect(rows[0].count).toBe(50);
  await signals.close();
});

test("of several reports from one node the last report is stored, and all callers get a reply", async () => {
  const signals = createSignals(counted, { flush_ms: 5 });
  const server_uuid = await node();
  await Promise.all([1, 2, 3].map((n) => signals.status(server_uuid, { n })));
  expect(statements).toBe(1);
  expect((await signalOf(server_uuid)).last_status).toEqual({ n: 3 });
  await signals.close();
});

test("reports of a status or a capacity update last_seen like a heartbeat", async () => {
  const signals = createSignals(db, { flush_ms: 1 });
  const [a, b] = [await node(), await node()];
  await Promise.all([signals.status(a, { vms: {} }), signals.capacity(b, { cpus: 4 })]);
  expect(await signalOf(a)).toMatchObject({ last_status: { vms: {} }, last_seen: expect.any(Date), report: null });
  expect(await signalOf(b)).toMatchObject({ last_status: null, last_seen: expect.any(Date), report: { cpus: 4 } });
  await signals.heartbeat(a);
  expect((await signalOf(a)).last_status).toEqual({ vms: {} });
  await signals.close();
});

test("a signal from an unknown node is not stored, and the removal of a node deletes its signals", async () => {
  const signals = createSignals(db, { flush_ms: 1 });
  const [gone, here] = [randomUUID(), await node()];
  await Promise.all([signals.heartbeat(gone), signals.capacity(here, {}), signals.status(here, {})]);
  expect(await signalOf(gone)).toBeUndefined();
  await db.query("delete from cn where server_uuid = $1", [here]);
  expect((await db.query("select from cn_signal union all select from cn_capacity")).rows).toEqual([]);
  await signals.close();
});

test("if the database cannot store one report of a batch, only that report fails", async () => {
  const signals = createSignals(db, { flush_ms: 5 });
  const nodes = await Promise.all(Array.from({ length: 9 }, node));
  const answers = await Promise.allSettled(
    nodes.map((server_uuid, n) => signals.status(server_uuid, { text: n === 4 ? "NUL \0" : "fine" })),
  );
  expect(answers.map(({ status }) => status)).toEqual(nodes.map((_, n) => n === 4 ? "rejected" : "fulfilled"));
  const { rows } = await db.query("select count(*) from cn_signal where last_status is not null");
  expect(rows[0].count).toBe(8);
  await signals.close();
});

test("if PostgreSQL refuses a statement because of one entry, only that entry fails", async () => {
  const batch = createSignalBatch({
    delay_ms: 1,
    // PostgreSQL refuses more than one row of a subquery (21000, cardinality_violation).
    write: (entries) =>
      db.query("select (select 1 from generate_series(1, n)) from unnest($1::int[]) n", [
        entries.map(({ json }) => Number(json)),
      ]),
  });
  const rows = ["1", "1", "2", "1", "1"];
  const answers = await Promise.allSettled(rows.map((json, n) => batch.put({ key: `${n}`, json })));
  expect(answers.map(({ status }) => status)).toEqual(rows.map((json) => json === "2" ? "rejected" : "fulfilled"));
});

test("keyUsed does not wait for the write, and close writes the uses that are still queued", async () => {
  const user = randomUUID();
  await db.query("insert into user_account (id, username) values ($1, 'u')", [user]);
  const key_id = randomUUID();
  await db.query(
    `insert into api_key (id, incarnation, version, state, lookup, secret_sha256, user_id, description, scope, created_at)
     values ($1, gen_random_uuid(), 1, 'live', 'lookup', repeat('a', 64), $2, '', 'full', berth_now())`,
    [key_id, user],
  );
  const signals = createSignals(db, { flush_ms: 60_000 });
  signals.keyUsed(key_id);
  signals.keyUsed(randomUUID());
  await signals.close();
  expect((await db.query("select key_id from api_key_use")).rows).toEqual([{ key_id }]);
});

test("a heartbeat gets 503 if the batch is full, or after close", async () => {
  const signals = createSignals(db, { flush_ms: 20, entries_max: 2 });
  const nodes = [await node(), await node(), await node()];
  const answers = await Promise.all(nodes.map((server_uuid) => signals.heartbeat(server_uuid)));
  expect(answers.map((fault) => fault?.kind)).toEqual([undefined, undefined, "unavailable"]);
  expect(await signalOf(nodes[2]!)).toBeUndefined();
  await signals.close();
  expect(await signals.heartbeat(nodes[0]!)).toMatchObject({ kind: "unavailable", retry_after_s: 1 });
});

test("after a broken connection the write is retried, and a later entry is written after the retried entry", async () => {
  const written: Entry[][] = [];
  const batch = createSignalBatch({
    delay_ms: 1,
    write: (entries) => {
      written.push(entries.map(({ key, json }) => ({ key, json })));
      return written.length === 1 ? Promise.reject(new Error("Connection terminated unexpectedly")) : Promise.resolve();
    },
  });
  const first = batch.put({ key: "a", json: "1" });
  void batch.flush();
  const second = batch.put({ key: "a", json: "2" });
  await Promise.all([first, second]);
  expect(written).toEqual([[{ key: "a", json: "1" }], [{ key: "a", json: "1" }], [{ key: "a", json: "2" }]]);
});

test("a failure that is not retried rejects every caller of the batch", async () => {
  const batch = createSignalBatch({ delay_ms: 1, write: () => counted.query("select from absent") });
  const answers = await Promise.allSettled(["a", "b"].map((key) => batch.put({ key, json: "" })));
  expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(statements).toBe(1);
});

test("a batch limits the total length of queued entries, and the length of a replaced report does not count", async () => {
  const batch = createSignalBatch({ delay_ms: 60_000, chars_max: 10, write: () => Promise.resolve() });
  expect(batch.put({ key: "a", json: "x".repeat(10) })).not.toBeNull();
  expect(batch.put({ key: "b", json: "x" })).toBeNull();
  expect(batch.put({ key: "a", json: "x".repeat(9) })).not.toBeNull();
  expect(batch.put({ key: "b", json: "x" })).not.toBeNull();
  await batch.flush();
  expect(batch.put({ key: "c", json: "x".repeat(10) })).not.toBeNull();
  await batch.flush();
});
