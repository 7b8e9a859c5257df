// Tests findRow and findOne. Concurrent calls share one statement.
import { afterAll, beforeAll, expect, test } from "vitest";
import { randomUUID } from "node:crypto";
import { findNicTag } from "../../actors/nic-tag/reads.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { createFindOne, createFindRow } from "../../src/db/shared-finds.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";

const IDS = [randomUUID(), randomUUID(), randomUUID()];
const NAMES = ["one", "two", "three"];
const NAME_OF_TAG = "select id as found_id, name from nic_tag where id = any($1)";
const MTU_OF_TAG = "select id as found_id, mtu from nic_tag where id = any($1)";

let database: FreshDatabase;
let db: Db;

beforeAll(async () => {
  database = await freshDatabase();
  db = openPool({ url: database.url });
  await db.query(
    `insert into nic_tag (id, incarnation, version, state, name, description, mtu, created_at)
       select id, gen_random_uuid(), 1, 'live', name, '', 1500, berth_now() from unnest($1::uuid[], $2::text[]) u(id, name)`,
    [IDS, NAMES],
  );
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

/** Returns a findRow, and the keys of each statement that it sends. */
function countedFindRow() {
  const statements: unknown[] = [];
  const query = <R>(sql: string, params: readonly unknown[] = []) => {
    statements.push(params[0]);
    return db.byKey.query<R>(sql, params);
  };
  return { findRow: createFindRow({ query }), statements };
}

test("concurrent calls of findRow share one statement, and each caller gets its own row", async () => {
  const { findRow, statements } = countedFindRow();
  const found = await Promise.all([...IDS, IDS[0]!].map((id) => findRow(NAME_OF_TAG, id)));
  expect(found).toEqual([...NAMES, NAMES[0]].map((name) => ({ name })));
  expect(statements).toEqual([IDS]);
});

test("calls with different statements do not share a statement", async () => {
  const { findRow, statements } = countedFindRow();
  const found = await Promise.all([findRow(NAME_OF_TAG, IDS[1]!), findRow(MTU_OF_TAG, IDS[1]!)]);
  expect(found).toEqual([{ name: "two" }, { mtu: 1500 }]);
  expect(statements.length).toBe(2);
});

test("a caller whose row is missing gets null, even if its statement finds another row", async () => {
  const { findRow } = countedFindRow();
  const found = await Promise.all([findRow(NAME_OF_TAG, randomUUID()), findRow(NAME_OF_TAG, IDS[2]!)]);
  expect(found).toEqual([null, { name: "three" }]);
});

test("concurrent calls of findOne share one statement", async () => {
  const asked: (readonly string[])[] = [];
  const find = {
    many: (...args: Parameters<typeof findNicTag.many>) => (asked.push(args[1]), findNicTag.many(...args)),
  };
  const findOne = createFindOne(db.byKey.kysely);
  const missing = randomUUID();
  const found = await Promise.all([...IDS, missing].map((id) => findOne(find, id)));
  expect(found.map((tag) => tag?.name)).toEqual([...NAMES, undefined]);
  expect(asked).toEqual([[...IDS, missing]]);
});

test("a call sees every change that was committed before the call", async () => {
  const { findRow } = countedFindRow();
  expect(await findRow(NAME_OF_TAG, IDS[0]!)).toEqual({ name: "one" });
  await db.query("update nic_tag set name = 'renamed' where id = $1", [IDS[0]]);
  expect(await findRow(NAME_OF_TAG, IDS[0]!)).toEqual({ name: "renamed" });
  await db.query("update nic_tag set name = 'one' where id = $1", [IDS[0]]);
});
