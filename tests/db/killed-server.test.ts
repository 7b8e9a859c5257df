// Kills the database server under load.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openListener } from "../../src/db/listener.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { createLoadTable, lostInserts, startInserts } from "../support/acknowledged-inserts.ts";
import { type OwnCluster, ownCluster } from "../support/cluster.ts";

/** The number of inserts that must be acknowledged before each kill, so that the test can notice a loss. */
const ACKNOWLEDGED_EACH = 250;
const OUTAGE_MS = 300;
const PATIENT = { timeout: 30_000 };

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

test(
  "if the database server is killed twice under load, no acknowledged insert is lost, and pool and listener reconnect",
  async () => {
    let reconnects = 0;
    const listener = openListener(cluster.url, {
      channel: "load",
      onNotify: () => {},
      onReconnect: () => reconnects++,
      onError: () => {},
    });
    await listener.ready;
    const load = startInserts(db);
    const acknowledged = () => load.acknowledged.length;
    for (const kill of [1, 2]) {
      await expect.poll(acknowledged, PATIENT).toBeGreaterThan(kill * ACKNOWLEDGED_EACH);
      await cluster.kill("SIGKILL");
      await settle(OUTAGE_MS);
      const before = acknowledged();
      await cluster.restart();
      await expect.poll(acknowledged, PATIENT).toBeGreaterThan(before);
      await expect.poll(() => reconnects, PATIENT).toBeGreaterThanOrEqual(kill);
    }
    await load.stop();
    await listener.close();
    expect(await lostInserts(db, load.acknowledged)).toEqual([]);
  },
  120_000,
);
