// Tests that the query for due actors reads only the rows of due actors, by an index.
import { afterAll, beforeAll, expect, test } from "vitest";
import { behaviors, timedKinds } from "../../actors/registry.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { createStore } from "../../src/db/store.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";

let database: FreshDatabase;
let db: Db;

beforeAll(async () => {
  database = await freshDatabase();
  db = openPool({ url: database.url, connectionsMax: 1 });
  // PostgreSQL would prefer sequential scans, because these tables are small.
  await db.query("set enable_seqscan = off");
});

afterAll(async () => {
  await db?.close();
  await database?.drop();
});

/** All kinds with timers, except the kind site, which has only one row. */
const MANY = timedKinds.filter((kind) => kind !== "site");

test.each(MANY)("the query for due actors of the kind %s reads no row that is not due", async (kind) => {
  const statements: string[] = [];
  const watched: Db = {
    ...db,
    query: (sql, params) => {
      statements.push(sql);
      return db.query(sql, params);
    },
  };
  await createStore(watched, behaviors).due(kind, 10);
  const [statement] = statements;
  const { rows } = await db.query<{ "QUERY PLAN": string }>(`explain (costs off) ${statement}`, [10]);
  const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
  expect(plan).toMatch(/Index Cond: \(wake_at <= /);
  expect(plan).not.toContain("Filter:");
});
