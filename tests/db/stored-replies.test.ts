// Tests the partitions of stored replies: one for each day in UTC.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Db, openPool } from "../../src/db/pool.ts";
import { okOf, openTestControlPlane } from "../support/control-plane.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";

const DAY_MS = 86_400_000;

let database: FreshDatabase;
let db: Db;

beforeAll(async () => {
  database = await freshDatabase();
  db = openPool({ url: database.url });
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

const partitions = async () =>
  (await db.query<{ name: string }>(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'seen'::regclass order by 1",
  )).rows.map(({ name }) => name);

// At any time, one of these zones has another date than UTC.
test.each(["Etc/GMT-14", "Etc/GMT+12"])("the same days are kept in the time zone %s as in UTC", async (zone) => {
  const maintained = (of: string) =>
    db.withClient(async ({ query }) => {
      await query("select set_config('timezone', $1, false)", [of]);
      await query("select seen_maintain(1)");
      await query("reset timezone");
      return await partitions();
    });
  expect(await maintained(zone)).toEqual(await maintained("UTC"));
});

/** Drops the partitions of all days, as if no server had run for some days. */
async function dropDays(): Promise<void> {
  for (const name of await partitions()) if (name !== "seen_other") await db.query(`drop table ${name}`);
}
const inDefault = async () =>
  (await db.query<{ reply: string }>("select reply from seen_other order by msg_id")).rows.map(({ reply }) => reply);

test("old replies in the default partition are deleted, and the other replies stay", async () => {
  await dropDays();
  await db.query(
    `insert into seen (msg_id, reply)
     select seen_bound((now() at time zone 'UTC')::date - n), n || ' days ago' from generate_series(0, 3) n`,
  );
  await db.query("select seen_maintain(1)");
  expect(await inDefault()).toEqual(["1 days ago", "0 days ago"]);
  await db.query("delete from seen_other");
});

const replies = async () =>
  (await db.query<{ reply: string }>("select reply from seen order by reply")).rows.map(({ reply }) => reply);

/** Stores a reply with a message id of some days ago. Returns the id. */
async function storeReply(days: number, reply: string): Promise<string> {
  const { rows: [row] } = await db.query<{ msg_id: string }>(
    `insert into seen (msg_id, reply)
     select (left(seen_bound((now() at time zone 'UTC')::date - $1::int)::text, 24)
             || right(gen_random_uuid()::text, 12))::uuid, $2 returning msg_id`,
    [days, reply],
  );
  return row!.msg_id;
}

test("the replies of tells in the outbox are kept, because the tells may be delivered again", async () => {
  await dropDays();
  const { rows: [day] } = await db.query<{ name: string; low: string; high: string }>(
    `select to_char(day, 'YYYYMMDD') as name, seen_bound(day) as low, seen_bound(day + 1) as high
       from (select (now() at time zone 'UTC')::date - 2 as day) two_days_ago`,
  );
  const { name, low, high } = day!;
  await db.query(`create table seen_${name} partition of seen for values from ('${low}') to ('${high}')`);
  // The replies of two days ago are in a partition of their day, and older replies are in the default partition.
  for (const days of [2, 3]) {
    await storeReply(days, `${days} days ago`);
    const id = await storeReply(days, `${days} days ago, in the outbox`);
    await db.query("insert into outbox (id, to_kind, to_id, message) values ($1, 'any', 'any', '{}')", [id]);
  }
  await db.query("select seen_maintain(1)");
  expect(await replies()).toEqual(["2 days ago, in the outbox", "3 days ago, in the outbox"]);
  expect(await partitions()).not.toContain(`seen_${name}`);
  await db.query("delete from outbox");
  await db.query("select seen_maintain(1)");
  expect(await replies()).toEqual([]);
});

test("a server that starts after a pause of days creates today's partition before its first reply", async () => {
  await dropDays();
  // The start creates the root user, which stores a reply.
  const t = await openTestControlPlane({ databaseUrl: database.url });
  expect((await db.query("select from seen")).rows).not.toEqual([]);
  expect(await inDefault()).toEqual([]);
  await t.close();
});

test("a server whose clock is three days behind answers a repeated request with the first answer", async () => {
  const now_ms = Date.now;
  const clock = vi.spyOn(Date, "now").mockImplementation(() => now_ms() - 3 * DAY_MS);
  const t = await openTestControlPlane({ databaseUrl: database.url });
  try {
    const { id } = okOf(await t.call("POST", "/v1/silos", { body: { name: "first" } }));
    const rename = (name: string, key: string) =>
      t.call("PATCH", `/v1/silos/${id}`, { body: { name }, headers: { "idempotency-key": key } });
    const key = randomUUID();
    const second = okOf(await rename("second", key));
    okOf(await rename("third", randomUUID()));
    await db.query("select seen_maintain(1)");
    expect(okOf(await rename("second", key))).toEqual(second);
    expect(okOf(await t.call("GET", `/v1/silos/${id}`)).name).toBe("third");
  } finally {
    clock.mockRestore();
    await t.close();
  }
});
