// Tests the partitions of stored replies: one for each day in UTC.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";

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

// At each time of day, the date in one of these zones is not the date in UTC.
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
