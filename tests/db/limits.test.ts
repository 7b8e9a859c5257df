// Tests the token buckets in the database, which limit rates, and the counter of failures.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { APPROVE_FAILURES_PER_HOUR } from "../../src/contract/limits.ts";
import { failuresExhausted, noteFailure, pruneLimits, takeToken } from "../../src/db/limits.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";

let database: FreshDatabase;
let db: Db;

beforeAll(async () => {
  database = await freshDatabase();
  db = openPool({ url: database.url, role: "berth_app" });
});

beforeEach(async () => {
  await db.query("delete from rate_bucket");
  await db.query("delete from failure_count");
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

async function moveClock(seconds: number): Promise<void> {
  await db.query("update lab_clock set ahead = ahead + $1 * interval '1 s'", [seconds]);
}

async function take(bucket: Parameters<typeof takeToken>[1], times: number) {
  const answers = [];
  for (let n = 0; n < times; n++) answers.push(await takeToken(db, bucket));
  return answers;
}

const APPROVE = { bucket: "approve:192.0.2.1", burst: 10, per_minute: 10 };

test("with a burst of ten, ten calls pass at once, and one more call passes each time a token is added", async () => {
  const answers = await take(APPROVE, 11);
  expect(answers.slice(0, 10)).toEqual(Array(10).fill({ ok: true }));
  expect(answers[10]).toEqual({ ok: false, retry_after_s: 6 });
  await moveClock(6);
  expect(await take(APPROVE, 2)).toEqual([{ ok: true }, { ok: false, retry_after_s: 6 }]);
});

test("a rejected call does not take a token", async () => {
  await take(APPROVE, 10);
  await moveClock(3);
  expect((await take(APPROVE, 20)).every((answer) => !answer.ok && answer.retry_after_s === 3)).toBe(true);
  await moveClock(3);
  expect(await takeToken(db, APPROVE)).toEqual({ ok: true });
});

test("a bucket never has more tokens than its burst", async () => {
  await takeToken(db, APPROVE);
  await moveClock(86_400);
  expect((await take(APPROVE, 12)).filter(({ ok }) => ok)).toHaveLength(10);
});

test("buckets do not share tokens, and a whole burst passes even if the refill time is not a whole number of seconds", async () => {
  const odd = { bucket: "odd", burst: 7, per_minute: 7 };
  expect((await take(odd, 8)).filter(({ ok }) => ok)).toHaveLength(7);
  expect(await takeToken(db, { ...odd, bucket: "other" })).toEqual({ ok: true });
});

test("with a burst of one, one call passes after each refill", async () => {
  const single = { bucket: "single", burst: 1, per_minute: 60 };
  expect((await take(single, 2)).map(({ ok }) => ok)).toEqual([true, false]);
  await moveClock(1);
  expect(await takeToken(db, single)).toEqual({ ok: true });
});

test("concurrent processes share one bucket", async () => {
  const others = [1, 2].map(() => openPool({ url: database.url, role: "berth_app" }));
  const slow = { bucket: "shared", burst: 10, per_minute: 0.001 };
  const tries = Array.from({ length: 60 }, (_, n) => takeToken([db, ...others][n % 3]!, slow));
  expect((await Promise.all(tries)).filter(({ ok }) => ok)).toHaveLength(10);
  await Promise.all(others.map((other) => other.close()));
});

test("if the database's clock is set back, a whole burst passes again", async () => {
  await moveClock(7_200);
  await take(APPROVE, 10);
  await moveClock(-7_200);
  expect((await take(APPROVE, 11)).filter(({ ok }) => ok)).toHaveLength(10);
});

test("a bucket with a rate or a burst of zero throws a RangeError", async () => {
  await expect(takeToken(db, { ...APPROVE, per_minute: 0 })).rejects.toThrow(RangeError);
  await expect(takeToken(db, { ...APPROVE, burst: 0 })).rejects.toThrow(RangeError);
});

test("failures are counted for the whole site up to the limit, and expire after an hour", async () => {
  for (let n = 0; n < APPROVE_FAILURES_PER_HOUR - 1; n++) await noteFailure(db, "cn-approval");
  expect(await failuresExhausted(db, "cn-approval")).toEqual({ ok: true });
  await noteFailure(db, "cn-approval");
  const answer = await failuresExhausted(db, "cn-approval");
  expect(answer).toEqual({ ok: false, retry_after_s: expect.any(Number) });
  await moveClock(3_599);
  expect((await failuresExhausted(db, "cn-approval")).ok).toBe(false);
  await moveClock(62);
  expect(await failuresExhausted(db, "cn-approval")).toEqual({ ok: true });
});

test("pruning deletes only full buckets and failures that are older than an hour", async () => {
  await takeToken(db, APPROVE);
  await noteFailure(db, "cn-approval");
  expect(await pruneLimits(db)).toBe(0);
  await moveClock(6);
  expect(await pruneLimits(db)).toBe(1);
  await moveClock(2 * 3_600 + 60);
  expect(await pruneLimits(db)).toBe(1);
});
