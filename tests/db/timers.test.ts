// Due actors are found among many others by an index, with one reading of the clock.
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
  // PostgreSQL prefers to scan small tables.
  await db.query("set enable_seqscan = off");
});

afterAll(async () => {
  await db?.close();
  await database?.drop();
});

/** Without the site, which is one row. */
const MANY = timedKinds.filter((kind) => kind !== "site");

test.each(MANY)("%s: no row is read before its time", async (kind) => {
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
