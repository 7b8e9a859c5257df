import { afterAll, beforeAll, expect, test } from "vitest";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { createLockBarrier, type LockBarrier, type Party, SCHEDULES } from "./lock-barrier.ts";

const NAMES = ["barrier one", "barrier two"] as const;

let database: FreshDatabase;
let watch: Db;
let pools: Db[];
let barrier: LockBarrier;
let parties: readonly [Db, Db];

beforeAll(async () => {
  database = await freshDatabase();
  watch = openPool({ url: database.url, applicationName: "watch" });
  pools = NAMES.map((applicationName) => openPool({ url: database.url, applicationName, lockLimit_ms: 20_000 }));
  barrier = createLockBarrier(watch, NAMES);
  parties = [barrier.through(0, pools[0]!), barrier.through(1, pools[1]!)];
});
afterAll(async () => {
  for (const pool of [...pools, watch]) await pool.close();
  await database.drop();
});

const three = (party: Party) => async () => {
  for (let statement = 0; statement < 3; statement += 1) await parties[party].query("select 1");
};

test("statements run in the order of the schedule; after the schedule's end, the last party continues", async () => {
  const { order } = await barrier.run([0, 1, 1, 0], [three(0), three(1)]);
  expect(order).toEqual([0, 1, 1, 0, 0, 1]);
});

test("while a party's statement waits for a lock, the other party runs; the first party continues when the lock is released", async () => {
  const holder = () =>
    parties[0].withClient(async (client) => {
      await client.query("select pg_advisory_lock(7)");
      await client.query("select 1");
      await client.query("select pg_advisory_unlock(7)");
    });
  const waiter = async () => void await parties[1].query("select pg_advisory_xact_lock(7)");
  const { order, waited } = await barrier.run([0, 1], [holder, waiter]);
  expect(order).toEqual([0, 1, 0, 0]);
  expect(waited).toBeGreaterThan(0);
});

test("run throws the error that a task throws", async () => {
  const broken = async () => void await parties[0].query("select nonsense");
  await expect(barrier.run([0], [broken, three(1)])).rejects.toThrow(/nonsense/);
});

test("the schedules are different, and each party starts half of them", () => {
  expect(new Set(SCHEDULES.map((schedule) => schedule.slice(0, 6).join(""))).size).toBe(SCHEDULES.length);
  expect(SCHEDULES.filter(([first]) => first === 0)).toHaveLength(SCHEDULES.length / 2);
});
