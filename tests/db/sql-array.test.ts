// Tests the functions that write an array as one text for PostgreSQL.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPool } from "../../src/db/pool.ts";
import type { Db } from "../../src/db/pool.ts";
import { arrayLiteral, longTextArray } from "../../src/db/sql-array.ts";
import { emptyDatabase, type FreshDatabase } from "../support/database.ts";

let database: FreshDatabase;
let db: Db;
beforeAll(async () => {
  database = await emptyDatabase();
  db = openPool({ url: database.url });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

// PostgreSQL's type text accepts every character except NUL. The generator creates no lone surrogates, because UTF-8
// cannot encode them.
const text = fc.string({ unit: "grapheme" }).map((value) => value.replaceAll("\0", ""));
const awkward = fc.constantFrom("", "NULL", "null", "a,b", '"', "\\", "{}", " ", "é", "🦉", "\n", "a b");
const texts = fc.array(fc.oneof(text, awkward, fc.constant(null)), { maxLength: 12 });

async function roundTrip(parameter: string | Buffer): Promise<(string | null)[]> {
  return (await db.query<{ back: (string | null)[] }>("select $1::text[] as back", [parameter])).rows[0]?.back ?? [];
}

test("arrayLiteral preserves every text", async () => {
  await fc.assert(
    fc.asyncProperty(texts, async (values) => {
      expect(await roundTrip(arrayLiteral(values))).toEqual(values);
    }),
    { numRuns: 200 },
  );
});

test("longTextArray preserves every text", async () => {
  await fc.assert(
    fc.asyncProperty(texts, async (values) => {
      expect(await roundTrip(longTextArray(values))).toEqual(values);
    }),
    { numRuns: 200 },
  );
});

test("arrayLiteral preserves numbers, UUIDs and timestamps", async () => {
  const { rows } = await db.query(
    "select $1::bigint[] as numbers, $2::uuid[] as uuids, $3::timestamptz[] as instants",
    [
      arrayLiteral([0, -1, Number.MAX_SAFE_INTEGER, null]),
      arrayLiteral(["01890a5d-ac96-774b-bcce-b302099a8057", null]),
      arrayLiteral(["2026-11-21T10:00:00.001Z"]),
    ],
  );
  expect(rows[0]).toEqual({
    numbers: [0, -1, Number.MAX_SAFE_INTEGER, null],
    uuids: ["01890a5d-ac96-774b-bcce-b302099a8057", null],
    instants: [new Date("2026-11-21T10:00:00.001Z")],
  });
});
