import { afterAll, beforeAll, expect, test } from "vitest";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { type Authorize, createAuthorize, type Party, SCHEDULES } from "./lock-barrier.ts";

const NAMES = ["gate one", "gate two"] as const;

let database: FreshDatabase;
let watch: Db;
let pools: Db[];
let gate: Authorize;
let gated: readonly [Db, Db];

beforeAll(async () => {
  database = await freshDatabase();
  watch = openPool({ url: database.url, applicationName: "watch" });
  pools = NAMES.map((applicationName) => openPool({ url: database.url, applicationName, lockLimit_ms: 20_000 }));
  gate = createAuthorize(watch, NAMES);
  gated = [gate.through(0, pools[0]!), gate.through(1, pools[1]!)];
});
afterAll(async () => {
  for (const pool of [...pools, watch]) await pool.close();
  await database.drop();
});

const three = (party: Party) => async () => {
  for (let statement = 0; statement < 3; statement += 1) await gated[party].query("select 1");
};

test("statements go in the order of the schedule; after its end whoever went last goes on", async () => {
  const { order } = await gate.run([0, 1, 1, 0], [three(0), three(1)]);
  expect(order).toEqual([0, 1, 1, 0, 0, 1]);
});

test("a statement that waits for a lock lets the other go on, and goes on when the lock is given up", async () => {
  const holder = () =>
    gated[0].withClient(async (client) => {
      await client.query("select pg_advisory_lock(7)");
      await client.query("select 1");
      await client.query("select pg_advisory_unlock(7)");
    });
  const waiter = async () => void await gated[1].query("select pg_advisory_xact_lock(7)");
  const { order, waited } = await gate.run([0, 1], [holder, waiter]);
  expect(order).toEqual([0, 1, 0, 0]);
  expect(waited).toBeGreaterThan(0);
});

test("what a task throws is thrown", async () => {
  const broken = async () => void await gated[0].query("select nonsense");
  await expect(gate.run([0], [broken, three(1)])).rejects.toThrow(/nonsense/);
});

test("the schedules are different from each other, half of them begun by either side", () => {
  expect(new Set(SCHEDULES.map((schedule) => schedule.slice(0, 6).join(""))).size).toBe(SCHEDULES.length);
  expect(SCHEDULES.filter(([first]) => first === 0)).toHaveLength(SCHEDULES.length / 2);
});
