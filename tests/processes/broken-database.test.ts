// A server whose database connections are cut at random, and whose database is killed, keeps its word: one server, a
// PostgreSQL of its own that flushes to the disk, 16 clients that note what they were told.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type OwnCluster, ownCluster } from "../harness/cluster.ts";
import { type ServerProcess, startServer } from "../harness/server-process.ts";
import { terminateBackends } from "./abuse.ts";
import { must } from "./client.ts";
import { auditViolations, historyViolations, invariantViolations } from "./history.ts";
import { type Load, startLoad } from "./load.ts";

const TERMINATING_MS = 8_000;
const LOAD_MS = 1_500;
const OUTAGE_MS = 500;
/** Enough that the two met, also on a busy machine. */
const ACKNOWLEDGED_MIN = 50;
const TERMINATED_MIN = 30;
/** reliability.md 2.1: served again this long after PostgreSQL is ready. */
const RECOVERY_MS = 2_000;

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

/** Ends with some calm, in which clients learn what became of the requests that they repeat. */
async function terminateUnder(load: Load): Promise<{ terminated: number; meanwhile: number }> {
  const terminated = await terminateBackends(cluster.url, TERMINATING_MS);
  const meanwhile = load.acknowledged();
  await settle(LOAD_MS);
  return { terminated, meanwhile };
}

async function killTwice(load: Load): Promise<void> {
  for (let kill = 1; kill <= 2; kill++) {
    await settle(LOAD_MS);
    await cluster.kill("SIGKILL");
    await settle(OUTAGE_MS);
    await cluster.restart();
    const before = load.acknowledged();
    const ready_at = performance.now();
    await expect.poll(() => load.acknowledged(), { timeout: 10_000, interval: 10 }).toBeGreaterThan(before);
    expect(performance.now() - ready_at).toBeLessThan(RECOVERY_MS);
  }
  await settle(LOAD_MS);
}

test(
  "connections terminated at random under load: nothing acknowledged is lost, nothing refused acts, nothing hangs",
  async () => {
    const load = newLoad();
    const { terminated, meanwhile } = await terminateUnder(load).finally(load.stop);
    expect(server.isRunning(), server.log()).toBe(true);
    expect(terminated).toBeGreaterThan(TERMINATED_MIN);
    expect(meanwhile, "nothing got through while connections broke").toBeGreaterThan(0);
    expect(load.acknowledged()).toBeGreaterThan(ACKNOWLEDGED_MIN);
    expect(load.operations.some(({ outcome }) => outcome === "refused")).toBe(true);
    expect(await violations(load)).toEqual([]);
  },
  40_000,
);

test(
  "the database killed twice under load: the server stays, serves again within 2 s, and keeps its word",
  async () => {
    const load = newLoad();
    await killTwice(load).finally(load.stop);
    expect(server.isRunning(), server.log()).toBe(true);
    expect(load.operations.some(({ attempts }) => attempts.some(({ status }) => status === 503))).toBe(true);
    expect(await violations(load)).toEqual([]);
  },
  40_000,
);

test("afterwards the audit chain verifies and has one entry per audited transition", async () => {
  const { outcome } = await must<{ outcome: object }>(server.url, { method: "GET", path: "/v1/audit/verify" });
  expect(outcome).toHaveProperty("Ok");
  // What committed beside a transaction that still ran is chained a moment later.
  await expect.poll(() => auditViolations(db), { timeout: 5_000 }).toEqual([]);
});
