// Tests the pool of database connections, and the connection that listens for notifications.
import { sql } from "kysely";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Db, isConnectionError, openPool, sqlConstraint, sqlState } from "../../src/db/pool.ts";
import { openListener } from "../../src/db/listener.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";

let database: FreshDatabase;
let db: Db;

beforeAll(async () => {
  database = await freshDatabase();
  db = openPool({ url: database.url, connectionsMax: 2 });
  await db.query(
    "create table mark (id bigint primary key, note text constraint mark_note_short check (length(note) < 9))",
  );
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

const only = async (text: string) => Object.values((await db.query(text)).rows[0])[0];

test("int8 is read as a number, and a value that a number cannot hold exactly throws", async () => {
  expect(await only("select count(*) from mark")).toBe(0);
  expect(await only(`select ${Number.MAX_SAFE_INTEGER}::int8`)).toBe(Number.MAX_SAFE_INTEGER);
  expect(await only("select array[[1, null], [3, 4]]::int8[]")).toEqual([[1, null], [3, 4]]);
  await expect(only(`select ${2n ** 53n}::int8`)).rejects.toThrow(/9007199254740992 does not fit/);
});

test("timestamptz is read as a Date; numeric and date are read as text", async () => {
  expect(await only("select '2026-11-21T09:00:00.5Z'::timestamptz")).toEqual(new Date("2026-11-21T09:00:00.500Z"));
  expect(await only("select 0.10::numeric")).toBe("0.10");
  expect(await only("select '2026-11-21'::date")).toBe("2026-11-21");
});

test("Kysely uses the same connections and types", async () => {
  const { rows } = await sql<{ n: number }>`select 7::int8 as n`.execute(db.kysely);
  expect(rows).toEqual([{ n: 7 }]);
  const names = await db.kysely.selectFrom("schema_migration").select("name").where("number", "=", 1).execute();
  expect(names).toEqual([{ name: "0001_roles.sql" }]);
});

test.each([
  ["a migration changes the columns", "alter table marked add column more int"],
  ["the connection forgets the statement", "deallocate all"],
])("a named statement is prepared, and still runs although %s", async (_, change) => {
  const one = openPool({ url: database.url, connectionsMax: 1 });
  try {
    const read = () => one.query("select * from marked where id > $1", [0], "marked rows");
    const session = async () => (await one.query("select pg_backend_pid() as pid")).rows[0].pid;
    await one.query("create table marked as select 1 as id");
    await read();
    const { rows } = await one.query("select statement from pg_prepared_statements where name = 'marked rows'");
    expect(rows).toHaveLength(1);
    const before = await session();
    await one.query(change);
    expect((await read()).rows).toMatchObject([{ id: 1 }]);
    // The driver would execute the old prepared statement again, so the pool replaces the connection.
    expect(await session()).not.toBe(before);
  } finally {
    await one.query("drop table marked");
    await one.close();
  }
});

test("the error of a failed statement has its SQLSTATE and constraint, and is not a connection error", async () => {
  const error = await db.query("insert into mark values (1, 'much too long')").catch((e) => e);
  expect([sqlState(error), sqlConstraint(error), isConnectionError(error)]).toEqual([
    "23514",
    "mark_note_short",
    false,
  ]);
});

test.each([
  ["terminated by an administrator", { code: "57P01", severity: "FATAL" }, true],
  ["server starting up", { code: "57P03", severity: "FATAL" }, true],
  ["class 08", { code: "08006", severity: "FATAL" }, true],
  ["statement timeout", { code: "57014", severity: "ERROR" }, false],
  ["deadlock", { code: "40P01", severity: "ERROR" }, false],
  ["wrong password", { code: "28P01", severity: "FATAL" }, false],
  ["socket reset", { code: "ECONNRESET" }, true],
  ["connection refused at every address", { errors: [{ code: "ECONNREFUSED" }] }, true],
  ["wrapped", { message: "x", cause: { code: "EPIPE" } }, true],
  ["the driver's own message", new Error("Connection terminated unexpectedly"), true],
  ["the driver's own time limit", new Error("Query read timeout"), true],
  ["a bug", new TypeError("x is not a function"), false],
  ["nothing", undefined, false],
])("isConnectionError accepts exactly the errors of a connection: %s", (_, error, expected) => {
  expect(isConnectionError(error)).toBe(expected);
});

test("the socket error code EPIPE does not count as a SQLSTATE", () => {
  expect(sqlState({ code: "EPIPE" })).toBeUndefined();
});

test("a statement that exceeds its time limit fails with 57014, and the connection stays usable", async () => {
  const hasty = openPool({ url: database.url, statementLimit_ms: 100, connectionsMax: 1 });
  try {
    expect(await hasty.query("select pg_sleep(5)").catch(sqlState)).toBe("57014");
    expect((await hasty.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  } finally {
    await hasty.close();
  }
});

test("a statement that waits 250 ms for a lock fails with 55P03", async () => {
  await db.withClient(async (holder) => {
    await holder.query("begin");
    await holder.query("lock table mark");
    expect(await db.query("select * from mark").catch(sqlState)).toBe("55P03");
    await holder.query("rollback");
  });
});

test("a transaction that its caller left open is rolled back before the next use of the connection", async () => {
  const one = openPool({ url: database.url, connectionsMax: 1 });
  try {
    const failed = one.withClient(async (client) => {
      await client.query("begin");
      await client.query("insert into mark values (100)");
      throw new Error("the caller failed");
    });
    await expect(failed).rejects.toThrow("the caller failed");
    expect((await one.query("select count(*) as n from mark where id = 100")).rows).toEqual([{ n: 0 }]);
  } finally {
    await one.close();
  }
});

test("a wait for a free connection fails at its time limit if all connections stay busy", async () => {
  const one = openPool({ url: database.url, connectionsMax: 1, statementLimit_ms: 10_000 });
  try {
    const busy = one.query("select pg_sleep(5.5)");
    const error = await one.query("select 1").catch((e) => e);
    expect(error.message).toBe("timeout exceeded when trying to connect");
    expect(one.stats()).toEqual({ open: 1, idle: 0, waiting: 0 });
    await busy;
  } finally {
    await one.close();
  }
});

/** Opens a proxy to the database. The proxy can drop bytes or cut connections. */
async function proxy() {
  const url = new URL(database.url);
  const { hostname, port } = url;
  const sockets = new Set<Socket>();
  let swallow = false;
  const server: Server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [from, to] of [[near, far], [far, near]] as const) {
      sockets.add(from);
      from.on("data", (chunk) => void (swallow || to.write(chunk)));
      from.on("error", () => {});
      from.on("close", () => to.destroy());
    }
  });
  await new Promise<void>((open) => server.listen(0, "127.0.0.1", open));
  url.port = String((server.address() as { port: number }).port);
  const cut = () => sockets.forEach((socket) => socket.destroy());
  return {
    url: url.href,
    cut,
    swallow: (on: boolean) => void (swallow = on),
    close: () => new Promise<void>((closed) => (server.close(() => closed()), cut())),
  };
}

test("a connection without replies is closed and replaced", async () => {
  const way = await proxy();
  const pool = openPool({ url: way.url, statementLimit_ms: 100, connectionsMax: 1 });
  try {
    await pool.query("select 1");
    way.swallow(true);
    const error = await pool.query("select 2").catch((e) => e);
    expect(isConnectionError(error)).toBe(true);
    way.swallow(false);
    expect((await pool.query("select 3 as n")).rows).toEqual([{ n: 3 }]);
  } finally {
    await pool.close();
    await way.close();
  }
});

test("a listener gets notifications; if its connection breaks, the listener reconnects and calls onReconnect", async () => {
  const way = await proxy();
  const heard: string[] = [];
  const reconnected = Promise.withResolvers<void>();
  const listener = openListener(way.url, {
    channel: 'odd "name"',
    onNotify: (payload) => {
      heard.push(payload);
      throw new Error("a careless callback");
    },
    onReconnect: reconnected.resolve,
    onError: () => {},
  });
  const notify = (payload: string) => db.query("select pg_notify($1, $2)", ['odd "name"', payload]);
  try {
    await listener.ready;
    await notify("one");
    await expect.poll(() => heard).toEqual(["one"]);
    way.cut();
    await reconnected.promise;
    await notify("two");
    await expect.poll(() => heard).toEqual(["one", "two"]);
  } finally {
    await listener.close();
    await way.close();
  }
});

test("close waits for running statements, and may be called again", async () => {
  const pool = openPool({ url: database.url });
  const running = pool.query("select 5 as n from pg_sleep(0.2)");
  await Promise.all([pool.close(), pool.close()]);
  expect((await running).rows).toEqual([{ n: 5 }]);
});
