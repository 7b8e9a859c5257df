// Checks that two frequent reads use indexes. Every server searches for expired API keys once a minute. While a node is
// drained, a server reads the migrations from this node once a second. Also checks the guards that read migrations,
// because migrations are kept forever.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listExpiredKeys } from "../../actors/api-key/reads.ts";
import { CN_DRAIN } from "../../actors/cn/drain.ts";
import type { Db } from "../../src/db/pool.ts";
import { createNodeDrains } from "../../src/wiring/drains.ts";
import { FILLED_LIMIT_MS as LIMIT_MS, type FilledDatabase, filledDatabase } from "../support/filled-database.ts";

/** The number of rows in most of the tables. PostgreSQL reads a small table completely even where an index exists. */
const ROWS = 5_000;
const NODE = randomUUID();

let filled: FilledDatabase;
let db: Db;
beforeAll(async () => {
  filled = await filledDatabase(FILL);
  db = filled.db;
  const drain = { server_uuid: NODE, preview: { placeable: [], not_placeable: [] } };
  await db.query(
    `insert into saga (id, incarnation, version, wake_at, state, saga, params, refs, outputs, steps, early, created_at, step)
     values ($1, $1, 1, berth_now(), 'running', $2, $3, '[]', '{}', '[]', '[]', berth_now(), $4)`,
    [randomUUID(), CN_DRAIN.saga, JSON.stringify(drain), CN_DRAIN.move],
  );
}, LIMIT_MS);
afterAll(() => filled?.close());

const FILL = [
  `insert into api_key (id, incarnation, version, state, lookup, secret_sha256, user_id, description, scope, created_at,
     expires_at)
   select gen_random_uuid(), gen_random_uuid(), 1, 'live', 'key-' || n, repeat('a', 64), gen_random_uuid(), '', 'full',
     berth_now(), berth_now() + (n - 10) * interval '1 day' from generate_series(1, ${ROWS}) n`,
  `insert into migration (id, state, source_cn, target_cn, instance_id, created_at)
   select gen_random_uuid(), case when n % 1000 = 0 then 'sending' else 'completed' end,
     case when n % 500 = 0 then '${NODE}' else gen_random_uuid() end, gen_random_uuid(), gen_random_uuid(),
     berth_now() - n * interval '1 hour' from generate_series(1, ${ROWS}) n`,
  `insert into instance (id, incarnation, version, state, tenant_id, project_id, name, description, brand, cpu,
     memory_bytes, image_id, primary_subnet_id, ssh_key_ids, created_at, updated_at)
   select instance_id, instance_id, 1, 'stopped', id, id, 'vm', '', 'kvm', 1, 1048576, id, id, '{}', berth_now(),
     berth_now() from migration`,
];

/** Returns the names of the table's indexes that `use` reads, and `whole` if `use` reads the table completely. */
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

test("a drain reads the migrations of its node by indexes", async () => {
  const errors: unknown[] = [];
  const drains = createNodeDrains(
    { kysely: db.kysely } as Parameters<typeof createNodeDrains>[0],
    { send: () => Promise.resolve({ ok: true, reply: null } as never) },
    { report: (_what, error) => errors.push(error) },
  );
  const scans = await scansOf("migration", () => drains.pass());
  expect(errors).toEqual([]);
  expect(scans).toEqual(expect.arrayContaining(["migration_begun_from_cn", "migration_from_cn"]));
  expect(scans).not.toContain("whole");
}, LIMIT_MS);

test("the guard that limits the migrations from a node counts them by an index", async () => {
  const allowed: unknown[] = [];
  const scans = await scansOf("migration", async () => {
    const args = JSON.stringify({ server_uuid: NODE, migrations_max: 3 });
    allowed.push(...(await db.query("select guard_cn_sends_fewer($1) as answer", [args])).rows);
  });
  expect(allowed).toEqual([{ answer: "5" }]);
  expect(scans).toEqual(["migration_from_cn"]);
}, LIMIT_MS);

test("the removal of a node finds the migrations from and to the node by indexes", async () => {
  const scans = await scansOf("migration", async () => {
    const args = JSON.stringify({ server_uuid: randomUUID() });
    const { rows } = await db.query("select guard_no_migration_of_cn($1) as answer", [args]);
    expect(rows).toEqual([{ answer: true }]);
  });
  expect(scans).toEqual(["migration_from_cn", "migration_to_cn"]);
}, LIMIT_MS);

test("the check finds a read of the whole table", async () => {
  expect(await scansOf("migration", () => db.query("select count(*) from migration where reason = 'x'"))).toEqual([
    "whole",
  ]);
}, LIMIT_MS);
