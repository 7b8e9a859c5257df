// Tests the guide to automatic failover. Clients send load through HAProxy and repeat their requests with the same
// Idempotency-Key. The primary is killed several times and returns as the standby. No acknowledged operation may
// be lost, and no operation may happen twice. BERTH_FAILOVER_KILLS sets the number of kills.
import process from "node:process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Db, openPool } from "../../src/db/pool.ts";
import { carryOn, must } from "../processes/client.ts";
import { auditViolations, historyViolations, invariantViolations } from "../processes/history.ts";
import { type Load, startLoad } from "../processes/load.ts";
import { sleep, until, untilEmpty } from "../stress/waiting.ts";
import { needs } from "../support/optional-programs.ts";
import { databaseFolder, type TemporaryFolder } from "../support/temporary-folder.ts";
import { type FailoverSite, openFailoverSite } from "./failover-site.ts";
import { installedPostgres } from "./postgres.ts";

// tests/guides/guide.test.ts searches the tests for the name of each guide, here "automatic-failover".
const KILLS = Number(process.env["BERTH_FAILOVER_KILLS"] ?? 5);
/** Every third fault kills only PostgreSQL. The other faults kill the whole machine. */
const POSTGRES_ONLY_EVERY = 3;
/** The time limit that the guide promises (docs/guides/automatic-failover.md, "Try it"). */
const SERVED_AGAIN_MS = 15_000;
const SERVED_LIMIT_MS = 60_000;
const LOAD_MS = 2_000;
const OUTAGE_MS_MAX = 3_000;
const RESOLVE_LIMIT_MS = 30_000;
const CHAIN_LIMIT_MS = 30_000;
const CHECK_LIMIT_MS = 60_000;
const LOOK_MS = 20;
const CLIENTS = 8;
const PER_KILL_MS = 120_000;

let folder: TemporaryFolder;
let site: FailoverSite | undefined;
let db: Db | undefined;
beforeEach(async () => {
  folder = await databaseFolder("failover");
});
afterEach(async () => {
  await db?.close();
  await site?.close();
  await folder.remove();
});

/** Waits until a request that began after `at_ms` is acknowledged. Returns the time of its answer. */
async function servedAfter(load: Load, at_ms: number): Promise<number> {
  const answered = () =>
    load.operations.flatMap(({ outcome, attempts }) => {
      const last = attempts.at(-1)!;
      return outcome === "acknowledged" && last.began_ms > at_ms ? [last.began_ms + last.took_ms] : [];
    });
  const served = await until(() => answered().length > 0, { limit_ms: SERVED_LIMIT_MS, look_ms: LOOK_MS });
  if (!served) throw new Error(`nothing is acknowledged ${SERVED_LIMIT_MS} ms after a kill\n${await site!.logs()}`);
  return Math.min(...answered());
}

async function killPrimary(load: Load, number: number): Promise<number> {
  const primary = await site!.redundant();
  await sleep(LOAD_MS * Math.random());
  const at_ms = performance.now();
  const whole = number % POSTGRES_ONLY_EVERY !== 0;
  if (whole) await site!.killMachine(primary);
  else await site!.killPostgres(primary);
  const took_ms = await servedAfter(load, at_ms) - at_ms;
  console.log(`kill ${number}: ${whole ? "the machine" : "PostgreSQL"} of ${primary}, served after ${took_ms | 0} ms`);
  await sleep(OUTAGE_MS_MAX * Math.random());
  if (whole) site!.startMachine(primary);
  return took_ms;
}

/** Returns a quantile of the times. With fewer than 100 times, the p99 is the longest time. */
function quantile(times: readonly number[], part: number): number {
  return times.toSorted((one, other) => one - other)[Math.ceil(times.length * part) - 1] ?? NaN;
}

test(
  "with the guide to automatic failover, no acknowledged operation is lost or happens twice",
  async (context) => {
    needs(context, "PostgreSQL's tools", "python3 with Patroni", "patroni", "etcd", "haproxy");
    site = await openFailoverSite(folder.path, await installedPostgres(context));
    // The load has no registrations, because a site accepts a limited number of claims from one address.
    const load = startLoad({ urls: () => [site!.url], clients: CLIENTS, tenancy: "only" });
    const served_ms: number[] = [];
    try {
      await sleep(LOAD_MS);
      for (let kill = 1; kill <= KILLS; kill++) served_ms.push(await killPrimary(load, kill));
      await site.redundant();
      await sleep(LOAD_MS);
    } finally {
      await load.stop();
    }
    const end = performance.now() + RESOLVE_LIMIT_MS;
    const unknown = load.operations.filter(({ outcome }) => outcome === "unknown");
    await Promise.all(unknown.map((each) => carryOn(each, () => [site!.url], () => performance.now() < end)));

    const repeated = load.operations.filter(({ attempts }) => attempts.length > 1).length;
    console.log(
      `${KILLS} kills, ${load.operations.length} operations, ${load.acknowledged()} acknowledged, ${repeated} repeated; ` +
        `served again p50 ${quantile(served_ms, 0.5) | 0}, p99 ${quantile(served_ms, 0.99) | 0} ms`,
    );
    db = openPool({ url: site.database_url, applicationName: "checks", statementLimit_ms: CHECK_LIMIT_MS });
    expect(load.operations.filter(({ outcome }) => outcome === "unknown")).toEqual([]);
    expect(await historyViolations(db, load.operations)).toEqual([]);
    expect(await invariantViolations(db)).toEqual([]);
    const { outcome } = await must<{ outcome: object }>(site.url, { method: "GET", path: "/v1/audit/verify" });
    expect(outcome).toHaveProperty("Ok");
    expect(await untilEmpty(() => auditViolations(db!), { limit_ms: CHAIN_LIMIT_MS })).toEqual([]);
    expect(site.servers.filter((server) => !server.isRunning()).map((server) => server.log())).toEqual([]);
    // If no request was repeated, the kills interrupted no request, and the test proves nothing.
    expect(repeated).toBeGreaterThan(0);
    expect(quantile(served_ms, 0.99)).toBeLessThan(SERVED_AGAIN_MS);
  },
  PER_KILL_MS * (KILLS + 3),
);
