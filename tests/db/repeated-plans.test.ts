// Checks that reads which every server repeats use an index: the search for expired API keys, once a minute.
import { afterAll, beforeAll, expect, test } from "vitest";
import { listExpiredKeys } from "../../actors/api-key/reads.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";

/** The filled rows of each table. PostgreSQL reads a small table completely even where an index exists. */
const ROWS = 5_000;
const LIMIT_MS = 120_000;

let database: FreshDatabase;
let db: Db;
beforeAll(async () => {
  database = await freshDatabase();
  // One connection, because a connection counts its scans itself until it reports them.
  db = openPool({ url: database.url, connectionsMax: 1, statementLimit_ms: LIMIT_MS });
  // Disables foreign keys and triggers: the filled rows need no other rows.
  await db.query(`set session_replication_role = replica; ${FILL.join("; ")}; analyze`);
}, LIMIT_MS);
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const FILL = [
  `insert into api_key (id, incarnation, version, state, lookup, secret_sha256, user_id, description, scope, created_at,
     expires_at)
   select gen_random_uuid(), gen_random_uuid(), 1, 'live', 'key-' || n, repeat('a', 64), gen_random_uuid(), '', 'full',
     berth_now(), berth_now() + (n - 10) * interval '1 day' from generate_series(1, ${ROWS}) n`,
];

/** Returns how often a table is read completely meanwhile, and the indexes of the table that are used. */
async function scansOf(table: string, use: () => Promise<unknown>) {
  const counts = async () => {
    await db.query("select pg_stat_force_next_flush()");
    const { rows } = await db.query<{ name: string; scans: number }>(
      `select indexrelname as name, idx_scan::int as scans from pg_stat_user_indexes where relname = $1
       union all select 'whole', seq_scan::int from pg_stat_user_tables where relname = $1`,
      [table],
    );
    return new Map(rows.map(({ name, scans }) => [name, scans]));
  };
  const before = await counts();
  await use();
  const after = await counts();
  return [...after.keys()].filter((name) => after.get(name)! > before.get(name)!).sort();
}

test("the search for expired API keys uses an index", async () => {
  const found: string[] = [];
  const scans = await scansOf("api_key", async () => found.push(...await listExpiredKeys(db.kysely, 0, 100)));
  expect(found).toHaveLength(10);
  expect(scans).toEqual(["api_key_expiring"]);
}, LIMIT_MS);

test("a read of the whole table is found", async () => {
  expect(await scansOf("api_key", () => db.query("select count(*) from api_key where description = 'x'"))).toEqual([
    "whole",
  ]);
}, LIMIT_MS);
