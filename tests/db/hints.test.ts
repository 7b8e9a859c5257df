// Tests hints. A hint is a notification that names actors that may have changed.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ActorRef } from "../../actors/engine/types.ts";
import { createHints, type Hint, HINT_CHANNEL } from "../../src/db/hints.ts";
import { openListener } from "../../src/db/listener.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";

let database: FreshDatabase;
let db: Db;

beforeAll(async () => {
  database = await freshDatabase();
  db = openPool({ url: database.url, role: "berth_app" });
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

const failures: unknown[] = [];
const report = (_message: string, error: unknown) => void failures.push(error);
const refs = (...ids: string[]): ActorRef[] => ids.map((id) => ({ kind: "cn", id }));

/** Simulates a process with its hints, its LISTEN connection, and a list of the hints that it received. */
async function startProcess() {
  const hints = createHints({ db, report });
  const heard: Hint[] = [];
  const payloads: string[] = [];
  hints.onHint((hint) => heard.push(hint));
  const listener = openListener(database.url, {
    channel: HINT_CHANNEL,
    onNotify: (payload) => {
      payloads.push(payload);
      hints.receive(payload);
    },
    onReconnect: hints.missed,
  });
  await listener.ready;
  return { hints, heard, payloads, stop: () => listener.close() };
}

test("listeners in the sender's process get a hint at once, listeners in other processes get the hint soon, and each listener gets the hint once", async () => {
  const [here, there] = await Promise.all([startProcess(), startProcess()]);
  here.hints.hint(refs("1"));
  here.hints.hint(refs("2", "1"));
  expect(here.heard).toEqual([refs("1"), refs("2", "1")]);
  await expect.poll(() => there.heard).toEqual([refs("1", "2")]);
  await expect.poll(() => here.payloads).toHaveLength(1);
  expect(here.heard).toHaveLength(2);
  await Promise.all([here.stop(), there.stop()]);
});

test("too many hints are replaced by one hint, which means that any actor may have changed", async () => {
  const [here, there] = await Promise.all([startProcess(), startProcess()]);
  for (let n = 0; n < 1_000; n++) here.hints.hint(refs(`actor-${n}`));
  await here.hints.close();
  await expect.poll(() => there.heard).toEqual(["all"]);
  expect(there.payloads.every((payload) => payload.length < 7_000)).toBe(true);
  await Promise.all([here.stop(), there.stop()]);
});

test("an id may contain colons, and an invalid hint counts as a hint that any actor may have changed", async () => {
  const { hints, heard, stop } = await startProcess();
  for (const payload of ['{"by":"x","refs":["boot-record:02:00:00:00:00:01"]}', '{"by":"x","refs":"all"}']) {
    hints.receive(payload);
  }
  for (const payload of ["", "[]", "nonsense", '{"by":"x","refs":["cn"]}', '{"by":"x"}']) hints.receive(payload);
  expect(heard[0]).toEqual([{ kind: "boot-record", id: "02:00:00:00:00:01" }]);
  expect(heard.slice(1)).toEqual(Array(6).fill("all"));
  await stop();
});

test("after a broken connection, listeners get the hint that any actor may have changed", async () => {
  const { heard, stop } = await startProcess();
  const admin = openPool({ url: database.url });
  await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'berth-listen'`,
  );
  await admin.close();
  await expect.poll(() => heard, { timeout: 10_000 }).toEqual(["all"]);
  await stop();
});

test("a listener that throws does not affect other listeners or the sender, and a removed listener gets no hint", () => {
  const hints = createHints({ db, report });
  const heard: Hint[] = [];
  hints.onHint(() => {
    throw new Error("the listener failed");
  });
  const end = hints.onHint((hint) => heard.push(hint));
  hints.hint(refs("1"));
  end();
  hints.hint(refs("2"));
  expect(heard).toEqual([refs("1")]);
  expect(failures).toContainEqual(new Error("the listener failed"));
  return hints.close();
});

test("if the pool is closed, the error is reported and hint() does not throw", async () => {
  const gone = openPool({ url: database.url });
  await gone.close();
  const before = failures.length;
  const hints = createHints({ db: gone, report });
  hints.hint(refs("1"));
  await hints.close();
  expect(failures).toHaveLength(before + 1);
});
