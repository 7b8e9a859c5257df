// Checks the pages of the usage of all projects. The sums on the pages equal the sums of the whole list. A page reads
// only the rows of its own projects, by indexes.
import { afterAll, beforeAll, expect, test } from "vitest";
import { listProjectTotals, pageProjectTotals, usageRange } from "../../actors/project/reads.ts";
import { isFault } from "../../src/contract/fault.ts";
import type { ProjectTotal } from "../../src/contract/usage.ts";
import type { Db } from "../../src/db/pool.ts";
import { FILLED_LIMIT_MS as LIMIT_MS, type FilledDatabase, filledDatabase } from "../support/filled-database.ts";

const PROJECTS = 2_000;
const PAGE_ROWS = 10;
const TABLES = ["usage_day", "usage_span", "usage_traffic"];

let filled: FilledDatabase;
let db: Db;
beforeAll(async () => {
  filled = await filledDatabase(FILL);
  db = filled.db;
}, LIMIT_MS);
afterAll(() => filled?.close());

const TODAY = "(berth_now() at time zone 'UTC')::date";
/** Today and the two days before are not closed yet. Project n has rows of days only if `n % 3` is not 0. */
const FILL = [
  `update usage_closed set day = ${TODAY} - 3`,
  `create temp table made as select n, md5('p' || n)::uuid as id, md5('t' || n % 50)::uuid as tenant_id
     from generate_series(1, ${PROJECTS}) n`,
  `insert into usage_day select id, ${TODAY} - d, tenant_id, n * 3.5, n * 1e9, n * 1e10, 7, n, d
     from made, generate_series(1, 40) d where n % 3 <> 0`,
  `insert into usage_span (tenant_id, project_id, resource, resource_id, vcpus, memory_bytes, disk_bytes, floating_ips,
     began_at, ended_at)
   select tenant_id, id, 'instance', gen_random_uuid(), n % 8, n * 1e6, n * 1e7, n % 3, b.began_at,
     case when k = 1 then null else b.began_at + random() * interval '50 hours' end
     from made, generate_series(1, 3) k, lateral (select berth_now() - random() * interval '130 hours' - n * interval '1 us'
       as began_at) b where n % 5 <> 0`,
  `insert into usage_traffic select gen_random_uuid(), ${TODAY} - d, tenant_id, id, n, n * 2
     from made, generate_series(0, 4) d where n % 7 <> 0`,
];

const daysBefore = (days: number) =>
  db.query<{ day: string }>(`select (${TODAY} - $1::int)::text as day`, [days]).then(({ rows }) => rows[0]!.day);

async function range(first: number, last: number) {
  const asked = await usageRange(db.kysely, { from: await daysBefore(first), to: await daysBefore(last) });
  if (isFault(asked)) throw new Error(asked.message);
  return asked;
}

const byId = (a: ProjectTotal, b: ProjectTotal) => a.project_id < b.project_id ? -1 : 1;

test.each([
  ["closed and open days", 20, 0],
  ["closed days", 20, 5],
  ["open days", 2, 1],
  ["days up to tomorrow", 1, -1],
  ["days without usage", 90, 80],
])("the pages have the sums of the whole list: %s", async (_what, first, last) => {
  const asked = await range(first, last);
  const pages: ProjectTotal[] = [];
  for (let more = true; more;) {
    const page = await pageProjectTotals(db.kysely, asked, { rows: 700, after: pages.at(-1)?.project_id ?? null });
    pages.push(...page);
    more = page.length === 700;
  }
  const whole = (await listProjectTotals(db.kysely, asked, PROJECTS + 1)).toSorted(byId);
  expect(pages.map(({ project_id }) => project_id)).toEqual(whole.map(({ project_id }) => project_id));
  for (const [n, total] of pages.entries()) {
    for (const [name, value] of Object.entries(total)) {
      const other = whole[n]![name as keyof ProjectTotal];
      // The usage of a span that has not ended grows between the two reads.
      if (typeof value === "number") expect(Math.abs(value - Number(other)), name).toBeLessThan(0.05);
      else expect(value).toBe(other);
    }
  }
}, LIMIT_MS);

/** Returns how often `use` reads tables of usage completely, and how many rows of these tables it reads. */
async function readMeanwhile(use: () => Promise<unknown>) {
  const counts = async () => {
    await db.query("select pg_stat_force_next_flush()");
    const { rows } = await db.query<{ whole: number; rows: number }>(
      `select sum(seq_scan)::int as whole, sum(seq_tup_read + idx_tup_fetch)::int as rows
         from pg_stat_user_tables where relname = any($1)`,
      [TABLES],
    );
    return rows[0]!;
  };
  const before = await counts();
  await use();
  const after = await counts();
  return { whole: after.whole - before.whole, rows: after.rows - before.rows };
}

test("a page reads only the rows of its own projects", async () => {
  const asked = await range(20, 0);
  const [first] = await pageProjectTotals(db.kysely, asked, { rows: PROJECTS / 2, after: null });
  const read = await readMeanwhile(() =>
    pageProjectTotals(db.kysely, asked, { rows: PAGE_ROWS, after: first!.project_id })
  );
  expect(read.whole).toBe(0);
  // In the requested range of days, a project has at most 20 days, 3 spans and 5 rows of traffic. To find the project,
  // 3 rows are read.
  expect(read.rows).toBeGreaterThan(PAGE_ROWS);
  expect(read.rows).toBeLessThanOrEqual((PAGE_ROWS + 1) * (20 + 3 + 5 + 3));
}, LIMIT_MS);

test("the check finds a read of all projects", async () => {
  const asked = await range(20, 0);
  expect((await readMeanwhile(() => listProjectTotals(db.kysely, asked, PAGE_ROWS))).rows).toBeGreaterThan(PROJECTS);
}, LIMIT_MS);
