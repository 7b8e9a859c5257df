import { afterAll, beforeAll, expect, test } from "vitest";
import { openListener } from "../../src/db/listener.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { createLoadTable, lostInserts, startInserts } from "../harness/acknowledged-inserts.ts";
import { type OwnCluster, ownCluster } from "../harness/cluster.ts";

let cluster: OwnCluster;
let db: Db;

beforeAll(async () => {
  cluster = await ownCluster();
  db = openPool({ url: cluster.url });
  await createLoadTable(db);
});

afterAll(async () => {
  await db.close();
  await cluster.remove();
});

const settle = (limit_ms: number) => new Promise((wake) => setTimeout(wake, limit_ms));

test("a server killed twice under load loses no acknowledged insert, and the pool and the listener come back", async () => {
  let reconnects = 0;
  const listener = openListener(cluster.url, {
    channel: "load",
    onNotify: () => {},
    onReconnect: () => reconnects++,
    onError: () => {},
  });
  await listener.ready;
  const load = startInserts(db);
  for (const kill of [1, 2]) {
    await settle(1_000);
    await cluster.kill("SIGKILL");
    await settle(300);
    const before = load.acknowledged.length;
    await cluster.restart();
    await expect.poll(() => load.acknowledged.length, { timeout: 5_000 }).toBeGreaterThan(before);
    await expect.poll(() => reconnects, { timeout: 10_000 }).toBeGreaterThanOrEqual(kill);
  }
  await load.stop();
  await listener.close();
  expect(load.acknowledged.length).toBeGreaterThan(500);
  expect(await lostInserts(db, load.acknowledged)).toEqual([]);
});
