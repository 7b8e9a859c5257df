// Tests the free ranges of a pool:
// - An allocation takes the lowest free value between its bounds, and reads only one range.
// - A release merges the value with the ranges next to it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Db, openPool, sqlConstraint } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { explained, scansOf } from "../support/plans.ts";

const POOL = "test";
/**
 * The number of free ranges in the test of plans. PostgreSQL would read a small table completely, even if an index
 * could limit the rows.
 */
const MANY = 20_000;

type Range = readonly [low: number, high: number];
type Bounds = { readonly low: number | null; readonly high: number | null };
const UNBOUNDED: Bounds = { low: null, high: null };

let database: FreshDatabase;
let db: Db;
beforeAll(async () => {
  database = await freshDatabase();
  db = openPool({ url: database.url, connectionsMax: 1 });
  await db.query("insert into pool (id) values ($1)", [POOL]);
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});
beforeEach(() => fill([]));

async function fill(ranges: readonly Range[]): Promise<void> {
  await db.query("delete from pool_range where pool_id = $1", [POOL]);
  await db.query("insert into pool_range select $1, (r->>0)::bigint, (r->>1)::bigint from jsonb_array_elements($2) r", [
    POOL,
    JSON.stringify(ranges),
  ]);
}
const ranges = async (): Promise<Range[]> =>
  (await db.query<{ low: number; high: number }>(
    "select low::int, high::int from pool_range where pool_id = $1 order by low",
    [POOL],
  )).rows.map(({ low, high }) => [low, high]);

/** Allocates a value in the way that a commit does. Returns the value, or null if no value is free. */
async function allocate(bounds: Bounds = UNBOUNDED): Promise<number | null> {
  const condition = { do: "allocate", pool: POOL, token: "spot", ...bounds, fault: { message: "none is free" } };
  const { rows: [row] } = await db.query<{ done: { values?: { spot: string }; fault?: unknown } }>(
    "select berth_conditions($1) as done",
    [JSON.stringify([condition])],
  );
  const { values, fault } = row!.done;
  if (values === undefined) expect(fault).toEqual(condition.fault);
  return values === undefined ? null : Number(values.spot);
}
const release = (value: number) => db.query("select berth_release($1, $2)", [POOL, String(value)]);

describe("an allocation", () => {
  test("takes the lowest free value, and removes a range when its last value is taken", async () => {
    await fill([[3, 4], [8, 8]]);
    expect([await allocate(), await allocate(), await allocate(), await allocate()]).toEqual([3, 4, 8, null]);
    expect(await ranges()).toEqual([]);
  });

  test.each<[string, Bounds, number | null, readonly Range[]]>([
    ["takes a value from the beginning of a range", { low: 10, high: 20 }, 10, [[0, 4], [11, 19], [30, 39]]],
    ["splits a range if the value is in its middle", { low: 15, high: 20 }, 15, [[0, 4], [10, 14], [16, 19], [30, 39]]],
    ["takes a value from the end of a range", { low: 19, high: 29 }, 19, [[0, 4], [10, 18], [30, 39]]],
    ["takes a value from the first range above the low bound", { low: 20, high: 30 }, 30, [[0, 4], [10, 19], [31, 39]]],
    ["takes a value if only a low bound is given", { low: 5, high: null }, 10, [[0, 4], [11, 19], [30, 39]]],
    ["takes a value if only a high bound is given", { low: null, high: 0 }, 0, [[1, 4], [10, 19], [30, 39]]],
    ["takes the value if both bounds are equal", { low: 12, high: 12 }, 12, [[0, 4], [10, 11], [13, 19], [30, 39]]],
    ["fails if both bounds are between two ranges", { low: 20, high: 29 }, null, [[0, 4], [10, 19], [30, 39]]],
    ["fails if the low bound is above the last range", { low: 40, high: null }, null, [[0, 4], [10, 19], [30, 39]]],
  ])("%s", async (_which, bounds, value, left) => {
    await fill([[0, 4], [10, 19], [30, 39]]);
    expect(await allocate(bounds)).toBe(value);
    expect(await ranges()).toEqual(left);
  });

  test.each<[string, Bounds]>([
    ["below the high bound", { low: 0, high: 9 }],
    ["between the bounds", { low: 501, high: 501 }],
    ["above the low bound", { low: 100 + 2 * MANY, high: null }],
  ])("reads at most one range if no value is free %s, and the pool has many ranges", async (_where, bounds) => {
    await db.query("insert into pool_range select $1, 10 + 2 * n, 10 + 2 * n from generate_series(0, $2::int) n", [
      POOL,
      MANY,
    ]);
    await db.query("analyze pool_range");
    const { db: explaining, plans } = explained(db);
    await explaining.query("select from berth_free_ranges($1, $2, $3)", [POOL, bounds.low, bounds.high]);
    const scans = plans.flatMap(scansOf);
    expect(scans.map((scan) => scan["Index Name"])).toEqual(["pool_range_pkey"]);
    expect(scans[0]!["Actual Rows"]).toBeLessThanOrEqual(1);
    expect(scans[0]!["Rows Removed by Filter"] ?? 0).toBe(0);
    expect(await allocate(bounds)).toBeNull();
  });
});

describe("a release", () => {
  test.each<[string, readonly Range[], number, readonly Range[]]>([
    ["joins the ranges on both sides", [[0, 4], [6, 9]], 5, [[0, 9]]],
    ["extends the range before it", [[0, 4], [7, 9]], 5, [[0, 5], [7, 9]]],
    ["extends the range after it", [[0, 3], [6, 9]], 5, [[0, 3], [5, 9]]],
    ["makes a new range between two ranges", [[0, 3], [7, 9]], 5, [[0, 3], [5, 5], [7, 9]]],
    ["makes a range if the pool has no range", [], 5, [[5, 5]]],
    ["makes the last range", [[0, 3]], 5, [[0, 3], [5, 5]]],
  ])("%s", async (_what, before, value, after) => {
    await fill(before);
    await release(value);
    expect(await ranges()).toEqual(after);
  });

  test.each([5, 6, 9])("of the free value %i is an error and changes nothing", async (value) => {
    await fill([[0, 3], [5, 9]]);
    const error = await release(value).then(() => null, (thrown: unknown) => thrown);
    expect(sqlConstraint(error)).toBe("pool_value_free_already");
    expect(await ranges()).toEqual([[0, 3], [5, 9]]);
  });
});

test("after random allocations and releases, the ranges are exactly the free values, and no two ranges touch", async () => {
  const size = 24;
  const free = new Set(Array.from({ length: size }, (_, value) => value));
  await fill([[0, size - 1]]);
  let state = 7;
  const pick = (count: number) => (state = (state * 48_271) % 2_147_483_647) % count;
  for (let step = 0; step < 400; step++) {
    const taken = Array.from({ length: size }, (_, value) => value).filter((value) => !free.has(value));
    if (taken.length > 0 && pick(2) === 0) {
      const value = taken[pick(taken.length)]!;
      await release(value);
      free.add(value);
    } else {
      const low = pick(3) === 0 ? null : pick(size);
      const high = pick(3) === 0 ? null : (low ?? 0) + pick(size - (low ?? 0));
      const fits = [...free].filter((value) => value >= (low ?? 0) && value <= (high ?? size));
      const expected = fits.length === 0 ? null : Math.min(...fits);
      expect(await allocate({ low, high })).toBe(expected);
      if (expected !== null) free.delete(expected);
    }
    const rows = await ranges();
    expect(rows.flatMap(([low, high]) => Array.from({ length: high - low + 1 }, (_, n) => low + n)))
      .toEqual([...free].toSorted((one, other) => one - other));
    for (const [n, [low]] of rows.entries()) expect(n === 0 || low > rows[n - 1]![1] + 1).toBe(true);
  }
});
