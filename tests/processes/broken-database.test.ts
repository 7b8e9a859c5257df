// A server keeps its promises (docs/reliability.md) while its database connections are cut at random and its database
// is killed. The tests use one server, a PostgreSQL of its own that flushes to disk, and 16 clients that record their
// replies.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type OwnCluster, ownCluster } from "../support/cluster.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { terminateBackends } from "./database-faults.ts";
import { must, request } from "./client.ts";
import { auditViolations, historyViolations, invariantViolations } from "./history.ts";
import { type Load, registration, startLoad } from "./load.ts";

const TERMINATING_MS = 4_000;
/**
 * The longest time with terminations. After TERMINATING_MS, the terminations end as soon as more than TERMINATED_MIN
 * connections were terminated and a request was acknowledged.
 */
const TERMINATING_MS_MAX = 60_000;
const TERMINATING_SLICE_MS = 1_000;
const LOAD_MS = 1_000;
const OUTAGE_MS = 500;
const PATIENCE_MS = 60_000;
/**
 * After the terminations, the load continues until more than this many requests are acknowledged. So there is enough
 * to check, even on a slow machine.
 */
const ACKNOWLEDGED_MIN = 50;
const TERMINATED_MIN = 30;

let cluster: OwnCluster;
let server: ServerProcess;
let db: Db;

beforeAll(async () => {
  cluster = await ownCluster({ fsync: "on" });
  server = await startServer({ env: { DATABASE_URL: cluster.url } });
  db = openPool({ url: cluster.url, applicationName: "checks" });
});

afterAll(async () => {
  await server?.kill();
  await db?.close();
  await cluster?.remove();
});

const settle = (duration_ms: number) => new Promise((wake) => setTimeout(wake, duration_ms));

async function violations({ operations }: Load): Promise<string[]> {
  return [...await historyViolations(db, operations), ...await invariantViolations(db)];
}

function newLoad(): Load {
  return startLoad({ urls: () => [server.url] });
}

/**
 * Terminates connections under load. Then waits for a time without terminations, so that clients learn the outcome of
 * the requests that they repeat.
 */
async function terminateUnder(load: Load): Promise<{ terminated: number; meanwhile: number }> {
  let terminated = 0;
  const enough = () => terminated > TERMINATED_MIN && load.acknowledged() > 0;
  const start = performance.now();
  const past_ms = () => performance.now() - start;
  while (past_ms() < TERMINATING_MS || (!enough() && past_ms() < TERMINATING_MS_MAX)) {
    terminated += await terminateBackends(cluster.url, TERMINATING_SLICE_MS);
  }
  const meanwhile = load.acknowledged();
  const refused = () => load.operations.some(({ outcome }) => outcome === "refused");
  await expect.poll(load.acknowledged, { timeout: PATIENCE_MS }).toBeGreaterThan(ACKNOWLEDGED_MIN);
  await expect.poll(refused, { timeout: PATIENCE_MS }).toBe(true);
  await settle(LOAD_MS);
  return { terminated, meanwhile };
}

async function killTwice(load: Load): Promise<void> {
  await settle(LOAD_MS);
  for (let kill = 1; kill <= 2; kill++) {
    await cluster.kill("SIGKILL");
    await settle(OUTAGE_MS);
    const meanwhile = await request(server.url, { method: "POST", ...registration(crypto.randomUUID()), key: "" });
    expect(meanwhile.status, "a request during the outage").toBe(503);
    await cluster.restart();
    const before = load.acknowledged();
    await expect.poll(load.acknowledged, { timeout: PATIENCE_MS, interval: 10 }).toBeGreaterThan(before);
    await settle(LOAD_MS);
  }
}

test(
  "when connections are cut at random, no acknowledged change is lost, no rejected request takes effect, and no request hangs",
  async () => {
    const load = newLoad();
    const { terminated, meanwhile } = await terminateUnder(load).finally(load.stop);
    expect(server.isRunning(), server.log()).toBe(true);
    expect(terminated).toBeGreaterThan(TERMINATED_MIN);
    expect(meanwhile, "no request succeeded while connections broke").toBeGreaterThan(0);
    expect(await violations(load)).toEqual([]);
  },
  240_000,
);

test(
  "when the database is killed twice under load, the same server recovers by itself and keeps its promises",
  async () => {
    const load = newLoad();
    await killTwice(load).finally(load.stop);
    expect(server.isRunning(), server.log()).toBe(true);
    expect(await violations(load)).toEqual([]);
  },
  240_000,
);

test("after all faults, the audit chain verifies and has one event per audited transition", async () => {
  const { outcome } = await must<{ outcome: object }>(server.url, { method: "GET", path: "/v1/audit/verify" });
  expect(outcome).toHaveProperty("Ok");
  // Events that were committed while an older transaction was running are chained a moment later.
  await expect.poll(() => auditViolations(db), { timeout: PATIENCE_MS }).toEqual([]);
});
