// A process keeps large rows that many requests need. Tests when the process reads such a row again.
import { type Kysely } from "kysely";
import { expect, test } from "vitest";
import { keptRow } from "../../actors/record/reads.ts";
import type { Database } from "../../src/db/tables.ts";

const db = {} as Kysely<Database>;
const row = (version: number, ms = 0) => ({ version, updated_at: new Date(ms) });

test("the process reads the row again only if its version or the time of its last change has changed in the database", async () => {
  let stored: ReturnType<typeof row> | undefined;
  let reads = 0;
  const find = keptRow(() => Promise.resolve(stored), () => {
    reads += 1;
    return Promise.resolve(stored);
  });
  const found: unknown[] = [];
  for (const next of [undefined, row(1), row(1), row(2), row(2), row(2, 1), row(2, 1), undefined, row(2, 1)]) {
    stored = next;
    found.push([await find(db), reads]);
  }
  expect(found).toEqual([
    [undefined, 0],
    [row(1), 1],
    [row(1), 1],
    [row(2), 2],
    [row(2), 2],
    [row(2, 1), 3],
    [row(2, 1), 3],
    [undefined, 3],
    [row(2, 1), 3],
  ]);
});

test("a row that was read with one connection pool is read again with another pool", async () => {
  let reads = 0;
  const find = keptRow(() => Promise.resolve(row(1)), () => Promise.resolve((reads += 1, row(1))));
  await find(db);
  await find({} as Kysely<Database>);
  expect(reads).toBe(2);
});
