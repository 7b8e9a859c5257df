// Rounds of load on two servers and one PostgreSQL that flushes to the disk, each round on a database of its own. In a
// round faults strike at random; after it every rule is checked against what the clients were told.
import { openClient, openPool } from "../../src/db/pool.ts";
import { type OwnCluster, ownCluster } from "../harness/cluster.ts";
import { databaseUrl } from "../harness/database-url.ts";
import { terminateBackends } from "../processes/abuse.ts";
import { must } from "../processes/client.ts";
import { auditViolations, historyViolations, invariantViolations } from "../processes/history.ts";
import { startLoad } from "../processes/load.ts";
import { killEither, type Pair, startPair } from "../processes/pair.ts";
import type { Report } from "./report.ts";

const ROUND_MS = 20_000;
const PAUSE_MS_MAX = 1_500;
const TERMINATING_MS = 1_500;
const OUTAGE_MS_MAX = 800;
/** After the last fault the clients get this long to hear what became of their requests. */
const CALM_MS = 3_000;
const CHECK_LIMIT_MS = 60_000;
const CHAIN_LIMIT_MS = 10_000;

type Round = { readonly cluster: OwnCluster; readonly url: string; readonly pair: Pair; readonly report: Report };

export async function runKills(duration_ms: number): Promise<Report> {
  const report: Report = {
    rounds: 0,
    operations: { acknowledged: 0, refused: 0, unknown: 0 },
    faults: { server_killed: 0, database_killed: 0, connection_terminated: 0 },
    attempts_unanswered: 0,
    repeated: 0,
    violations: [],
    silent: [],
  };
  const cluster = await ownCluster({ fsync: "on", max_connections: "200" });
  try {
    for (const end = Date.now() + duration_ms; Date.now() < end;) await runRound(cluster, report);
  } finally {
    await cluster.remove();
  }
  report.silent.push(...silentCounters(report));
  return report;
}

async function runRound(cluster: OwnCluster, report: Report): Promise<void> {
  const url = await makeDatabase(cluster.url, `trial_${++report.rounds}`);
  const pair = await startPair({ DATABASE_URL: url });
  const round: Round = { cluster, url, pair, report };
  try {
    const load = startLoad({ urls: pair.urls });
    await strike(round).finally(load.stop);
    for (const { outcome, attempts } of load.operations) {
      report.operations[outcome] += 1;
      report.attempts_unanswered += attempts.filter(({ status }) => status === null).length;
      if (attempts.length > 1) report.repeated += 1;
    }
    const db = openPool({ url, applicationName: "checks", statementLimit_ms: CHECK_LIMIT_MS });
    const found = [
      ...await historyViolations(db, load.operations),
      ...await invariantViolations(db),
      ...await unverified(round),
      ...await untilEmpty(() => auditViolations(db)),
    ];
    await db.close();
    report.violations.push(...found.map((text) => `round ${report.rounds}: ${text}`));
    console.error(`round ${report.rounds}: ${load.operations.length} operations, ${found.length} violations`);
  } finally {
    await pair.end();
  }
  await dropDatabase(cluster.url, `trial_${report.rounds}`);
}

async function strike(round: Round): Promise<void> {
  for (const end = Date.now() + ROUND_MS; Date.now() < end;) {
    await settle(Math.random() * PAUSE_MS_MAX);
    await strikeOnce(round);
  }
  await settle(CALM_MS);
}

async function strikeOnce({ cluster, url, pair, report: { faults } }: Round): Promise<void> {
  const dice = Math.random();
  if (dice < 0.4) {
    await killEither(pair);
    faults.server_killed += 1;
  } else if (dice < 0.8) {
    faults.connection_terminated += await terminateBackends(url, Math.random() * TERMINATING_MS);
  } else {
    await cluster.kill(Math.random() < 0.7 ? "SIGKILL" : "SIGQUIT");
    await settle(Math.random() * OUTAGE_MS_MAX);
    await cluster.restart();
    faults.database_killed += 1;
  }
}

async function unverified({ pair }: Round): Promise<string[]> {
  const { outcome } = await must<{ outcome: object }>(pair.urls()[0]!, { method: "GET", path: "/v1/audit/verify" });
  return "Ok" in outcome ? [] : [`INV-17: the audit chain does not verify: ${JSON.stringify(outcome)}`];
}

/** What commits beside a running transaction is chained a moment later. */
async function untilEmpty(check: () => Promise<string[]>): Promise<string[]> {
  for (const end = Date.now() + CHAIN_LIMIT_MS;;) {
    const found = await check();
    if (found.length === 0 || Date.now() > end) return found;
    await settle(250);
  }
}

/** What never happened proves nothing. */
function silentCounters({ faults, operations, attempts_unanswered, repeated }: Report): string[] {
  const counters = { ...faults, ...operations, attempts_unanswered, repeated };
  // Whoever waits long enough learns every outcome: no unknown one is the best case, not a silent counter.
  return Object.entries(counters).filter(([name, count]) => count === 0 && name !== "unknown").map(([name]) => name);
}

async function makeDatabase(server_url: string, name: string): Promise<string> {
  await administer(server_url, `create database ${name}`);
  return databaseUrl(server_url, name);
}

async function dropDatabase(server_url: string, name: string): Promise<void> {
  await administer(server_url, `drop database if exists ${name} with (force)`);
}

async function administer(url: string, statement: string): Promise<void> {
  const client = await openClient({ url, statementLimit_ms: CHECK_LIMIT_MS });
  await client.query(statement);
  await client.end();
}

function settle(duration_ms: number): Promise<void> {
  return new Promise((wake) => setTimeout(wake, duration_ms));
}
