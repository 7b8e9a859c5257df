// The quota guards call within_limit to decide, and quota_broken to name the limit. Both functions must agree in every
// case.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Db, openPool } from "../../src/db/pool.ts";
import { freshDatabase } from "../support/database.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: Db;
beforeAll(async () => {
  database = await freshDatabase();
  db = openPool({ url: database.url });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

/**
 * Every combination of some uses, growths, own limits and default limits. Many sums of use and growth are near a limit.
 * A limit that is null is not set.
 */
const CASES = `
  select used, asked, quota, own, standard,
         within_limit(used, asked::text, quota, own, standard::text) as within,
         quota_broken(jsonb_build_object('cpu', case when quota is null then standard else own end, 'own', true),
                      jsonb_build_object('cpu', used), jsonb_build_object('cpu', asked)) = 'true' as unbroken
    from unnest(array[0, 4, 9, 10, 11]) used, unnest(array[-1, 0, 1, 6, null]) asked,
         unnest(array[null, gen_random_uuid()]) quota, unnest(array[null, 0, 10]) own,
         unnest(array[null, 5, 10]) standard`;

test("within_limit accepts exactly the values for which quota_broken finds no broken limit", async () => {
  const { rows } = await db.query<{ within: boolean; unbroken: boolean }>(CASES);
  expect(rows).toHaveLength(5 * 5 * 2 * 3 * 3);
  expect(rows.filter(({ within, unbroken }) => within !== unbroken)).toEqual([]);
  expect(new Set(rows.map(({ within }) => within))).toEqual(new Set([true, false]));
});
