// Tests the reads of rows by a unique key. These reads have their own connections.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openPipeline } from "../../src/db/pipeline.ts";
import { type Db, isConnectionError, openPool, sqlState } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { type NetworkProxy, openProxy } from "../support/network-proxy.ts";

let database: FreshDatabase;
let owner: Db;

beforeAll(async () => {
  database = await freshDatabase();
  owner = openPool({ url: database.url, connectionsMax: 2 });
  await owner.query("create table mark (id bigint primary key, note text)");
  await owner.query("insert into mark select n, 'note ' || n from generate_series(1, 100) n");
});

afterAll(async () => {
  await owner.close();
  await database.drop();
});

const NOTE = "select note from mark where id = $1";
const PID = "select pg_backend_pid() as pid where $1 = $1";

async function withReads<T>(use: (db: Db) => Promise<T>, options: { url?: string; statementLimit_ms?: number } = {}) {
  const db = openPool({ url: database.url, ...options });
  try {
    return await use(db);
  } finally {
    await db.close();
  }
}

async function withProxy<T>(use: (proxy: NetworkProxy, url: string) => Promise<T>): Promise<T> {
  const url = new URL(database.url);
  const proxy = await openProxy({ target_port: Number(url.port) });
  url.port = String(proxy.port);
  try {
    return await use(proxy, url.href);
  } finally {
    await proxy.close();
  }
}

const end = (pid: number) => owner.query("select pg_terminate_backend($1, 5000)", [pid]);

test("each of several concurrent reads gets its own row", () =>
  withReads(async ({ byKey }) => {
    const ids = Array.from({ length: 100 }, (_, n) => n + 1);
    const found = await Promise.all(ids.map((id) => byKey.query<{ note: string }>(NOTE, [id])));
    expect(found.map(({ rows }) => rows[0]?.note)).toEqual(ids.map((id) => `note ${id}`));
  }));

test("a statement is prepared once and planned once", () =>
  withReads(async ({ byKey }) => {
    for (let id = 1; id <= 20; id++) await byKey.query(NOTE, [id]);
    const used = "select generic_plans, custom_plans from pg_prepared_statements where statement = $1";
    expect((await byKey.query(used, [NOTE])).rows).toEqual([{ generic_plans: 20, custom_plans: 0 }]);
  }));

test.each([4, 10_000])(
  "a read uses an index scan in a table that had %i rows when it was last analyzed",
  (rows) =>
    withReads(async ({ byKey }) => {
      await owner.query("drop table if exists part");
      await owner.query(
        `create table part as select n::bigint as of from generate_series(1, ${rows}) n order by random()`,
      );
      await owner.query("create index on part (of)");
      await owner.query("analyze part");
      const explain = "explain (costs off) select *, ctid from part where of = any($1)";
      const { rows: [plan] } = await byKey.query<{ "QUERY PLAN": string }>(explain, [[1, 2, 3, 4]]);
      expect(plan!["QUERY PLAN"]).toBe("Index Scan using part_of_idx on part");
    }),
);

test("Kysely's statements are prepared, too", () =>
  withReads(async ({ byKey }) => {
    const find = (number: number) =>
      byKey.kysely.selectFrom("schema_migration").select("name").where("number", "=", number).executeTakeFirst();
    expect([await find(1), await find(-1)]).toEqual([{ name: "0001_roles.sql" }, undefined]);
    const used = "select generic_plans from pg_prepared_statements where statement like $1";
    expect((await byKey.query(used, ['%"schema_migration"%'])).rows).toEqual([{ generic_plans: 2 }]);
  }));

test("a read sees every change that was committed before the read was sent", () =>
  withReads(async ({ byKey }) => {
    for (const note of ["first", "second"]) {
      await owner.query("insert into mark values (1000, $1) on conflict (id) do update set note = $1", [note]);
      expect((await byKey.query(NOTE, [1000])).rows).toEqual([{ note }]);
    }
  }));

test("an error of one statement does not affect the concurrent statements", () =>
  withReads(async ({ byKey }) => {
    const divided = "select 1 / $1::int as n";
    const results = await Promise.allSettled([[1], [0], [1]].map((params) => byKey.query(divided, params)));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(sqlState((results[1] as PromiseRejectedResult).reason)).toBe("22012");
  }));

test("reads whose connection is terminated are repeated", () =>
  withReads(async ({ byKey }) => {
    const slow = "select pg_backend_pid() as pid from pg_sleep($1::float8)";
    const { pid } = (await byKey.query<{ pid: number }>(PID, [""])).rows[0]!;
    const running = Promise.all([0.3, 0, 0].map((seconds) => byKey.query<{ pid: number }>(slow, [seconds])));
    await end(pid);
    const pids = (await running).map(({ rows }) => rows[0]!.pid);
    expect(pids).not.toContain(pid);
  }));

test("a read whose connection breaks twice fails with a connection error; the next read succeeds", () =>
  withReads(async ({ byKey }) => {
    const slow = "select 'slow' from pg_sleep(10)";
    const failed = byKey.query(slow).catch((error) => error);
    for (let ended = 0; ended < 2;) {
      const where = "query = $1 and datname = current_database()";
      const gone = await owner.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where ${where}`, [
        slow,
      ]);
      ended += gone.rowCount;
    }
    expect(isConnectionError(await failed)).toBe(true);
    expect((await byKey.query(NOTE, [1])).rows).toEqual([{ note: "note 1" }]);
  }));

test("a read without an answer fails after the time limit, and later reads use another connection", () =>
  withProxy((proxy, url) =>
    withReads(async ({ byKey }) => {
      await byKey.query(PID, [""]);
      proxy.silence();
      const error = await byKey.query(NOTE, [1]).catch((e) => e);
      expect(error.message).toBe("Query read timeout");
      proxy.heal();
      expect((await byKey.query(NOTE, [2])).rows).toEqual([{ note: "note 2" }]);
    }, { url, statementLimit_ms: 100 })
  ));

test("a statement is prepared again when a column was added or its type changed", () =>
  withReads(async ({ byKey }) => {
    const all = "select * from mark where id = $1";
    expect((await byKey.query(all, [1])).rows).toEqual([{ id: 1, note: "note 1" }]);
    await owner.query("alter table mark add column size int default 7");
    const rows = await Promise.all([1, 2].map(async (id) => (await byKey.query(all, [id])).rows));
    await owner.query("alter table mark drop column size");
    expect(rows).toEqual([[{ id: 1, note: "note 1", size: 7 }], [{ id: 2, note: "note 2", size: 7 }]]);
  }));

test("no read fails when a migration makes the plans of both connections stale", () =>
  withReads(async ({ byKey }) => {
    const all = "select *, pg_backend_pid() as pid from mark where id = $1";
    const many = () =>
      Promise.all(Array.from({ length: 400 }, async () => (await byKey.query<{ pid: number }>(all, [1])).rows[0]!));
    // The first reads open the second connection, and the next reads prepare the statement on both connections.
    await many();
    expect(new Set((await many()).map(({ pid }) => pid)).size).toBe(2);
    await owner.query("alter table mark add column weight int default 7");
    const rows = await many().finally(() => owner.query("alter table mark drop column weight"));
    expect(rows[0]).toMatchObject({ note: "note 1", weight: 7 });
  }));

test("a read uses the role of the pool", async () => {
  const db = openPool({ url: database.url, role: "berth_app" });
  expect((await db.byKey.query("select current_user as role")).rows).toEqual([{ role: "berth_app" }]);
  await db.close();
});

test("a connection that was not used between two checks is closed, and the next read opens another connection", () =>
  withReads(async ({ byKey }) => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const pid = async () => (await byKey.query<{ pid: number }>(PID, [""])).rows[0]!.pid;
      const first = await pid();
      vi.advanceTimersByTime(60_000);
      expect(await pid()).toBe(first);
      vi.advanceTimersByTime(60_000); // The connection was used since the last check.
      expect(await pid()).toBe(first);
      vi.advanceTimersByTime(120_000);
      expect(await pid()).not.toBe(first);
    } finally {
      vi.useRealTimers();
    }
  }));

test("close waits for running reads, and later reads are rejected", async () => {
  const { byKey, close } = openPool({ url: database.url });
  await byKey.query(PID, [""]);
  const running = byKey.query("select 5 as n from pg_sleep(0.2)");
  await close();
  expect((await running).rows).toEqual([{ n: 5 }]);
  expect(isConnectionError(await byKey.query(PID, [""]).catch((e) => e))).toBe(true);
});

test("the statements of one turn of the event loop are written to the socket together", async () => {
  const calls: string[] = [];
  const stream = { cork: () => void calls.push("cork"), uncork: () => void calls.push("send") };
  const query = () => (calls.push("statement"), Promise.resolve({ rows: [], rowCount: 0 }));
  const pipeline = openPipeline({ query, once: () => {}, end: () => Promise.resolve(), connection: { stream } }, {
    prepares: true,
  });
  for (const count of [3, 1]) {
    await Promise.all(Array.from({ length: count }, () => pipeline.query("select 1", [])));
    await new Promise((turn) => setImmediate(turn));
  }
  expect(calls).toEqual(["cork", "statement", "statement", "statement", "send", "cork", "statement", "send"]);
});
