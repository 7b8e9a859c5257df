// Runs rounds of load on several servers and one PostgreSQL with fsync on, each round on its own database. Faults occur
// during a round. After each round, the invariants are checked, and the database is compared with the answers that
// clients got.
import { openClient, openPool } from "../../src/db/pool.ts";
import { type OwnCluster, ownCluster } from "../support/cluster.ts";
import { databaseUrl } from "../support/database-url.ts";
import { carryOn, must, type Operation } from "../processes/client.ts";
import { auditViolations, historyViolations, invariantViolations } from "../processes/history.ts";
import { type Load, startLoad } from "../processes/load.ts";
import type { Killed } from "../processes/pair.ts";
import { countFault, type Report } from "./report.ts";
import { sleep, until, untilEmpty } from "./waiting.ts";

/** The time after the last fault in which clients repeat their requests to learn the outcomes. */
const CALM_MS = 3_000;
/** The time limit for resolving the outcomes that are still unknown after CALM_MS. */
const RESOLVE_LIMIT_MS = 30_000;
const CHECK_LIMIT_MS = 60_000;
const CHAIN_LIMIT_MS = 10_000;
/** After a restart of the database, an operation must be acknowledged within this time. */
const LIVE_LIMIT_MS = 30_000;
const LOOK_MS = 5;

export type Servers = {
  /** Returns the URLs of the running servers. */
  urls(): readonly string[];
  /** Returns the logs of servers that ended without being killed. */
  ended(): readonly string[];
  end(): Promise<void>;
};

export type Round<S> = {
  readonly cluster: OwnCluster;
  readonly url: string;
  readonly servers: S;
  readonly load: Load;
  readonly report: Report;
  /** The servers that faults have killed in this round. */
  readonly killed: Killed[];
};

export type Plan<S> = {
  readonly open: (url: string) => Promise<S>;
  readonly causeFaults: (round: Round<S>) => Promise<void>;
  /** Returns whether another round should start. */
  readonly goesOn: () => boolean;
  readonly tenancy?: boolean;
  /** Returns additional violations after a round. */
  readonly check?: (round: Round<S>) => Promise<string[]>;
};

export async function runRounds<S extends Servers>(report: Report, plan: Plan<S>): Promise<Report> {
  const cluster = await ownCluster({ fsync: "on", max_connections: "200" });
  try {
    while (plan.goesOn()) await runRound(cluster, report, plan);
  } finally {
    await cluster.remove();
  }
  report.silent.push(...silentCounters(report));
  return report;
}

async function runRound<S extends Servers>(cluster: OwnCluster, report: Report, plan: Plan<S>): Promise<void> {
  const name = `trial_${++report.rounds}`;
  await administer(cluster.url, `create database ${name}`);
  const url = databaseUrl(cluster.url, name);
  const servers = await plan.open(url);
  try {
    const load = startLoad({ urls: servers.urls, tenancy: plan.tenancy ?? false });
    const round: Round<S> = { cluster, url, servers, load, report, killed: [] };
    const faults_caused = plan.causeFaults(round).then(() => sleep(CALM_MS));
    await faults_caused.finally(load.stop);
    await resolve(round);
    count(round);
    const found = [...await violationsOf(round), ...await plan.check?.(round) ?? []];
    report.violations.push(...found.map((text) => `round ${report.rounds}: ${text}`));
    console.error(`round ${report.rounds}: ${load.operations.length} operations, ${found.length} violations`);
  } finally {
    await servers.end();
  }
  await administer(cluster.url, `drop database if exists ${name} with (force)`);
}

/**
 * Resolves every unknown outcome by repeating the request with its Idempotency-Key. A registration has no key and is
 * sent as a new request.
 */
async function resolve<S extends Servers>({ load, servers }: Round<S>): Promise<void> {
  const end = performance.now() + RESOLVE_LIMIT_MS;
  const unknown = load.operations.filter(({ outcome }) => outcome === "unknown");
  await Promise.all(unknown.map((each) => carryOn(each, servers.urls, () => performance.now() < end)));
}

function count<S>({ load, killed, report }: Round<S>): void {
  for (const { outcome, attempts } of load.operations) {
    report.operations[outcome] += 1;
    report.attempts_unanswered += attempts.filter(({ status }) => status === null).length;
    if (attempts.length > 1) report.repeated += 1;
    else report.undisturbed_ms.push(...attempts.map(({ took_ms }) => took_ms));
    report.slowest_ms = attempts.reduce((slowest, { took_ms }) => Math.max(slowest, took_ms), report.slowest_ms);
  }
  report.recoveries_ms.server_killed.push(...killed.flatMap((each) => servedAfter(each, load.operations)));
}

async function violationsOf<S extends Servers>({ url, servers, load }: Round<S>): Promise<string[]> {
  const db = openPool({ url, applicationName: "checks", statementLimit_ms: CHECK_LIMIT_MS });
  const unresolved = load.operations.filter(({ outcome }) => outcome === "unknown");
  try {
    return [
      ...servers.ended(),
      ...unresolved.map(({ event, path }) => `the outcome of ${event} ${path} stays unknown`),
      ...await historyViolations(db, load.operations),
      ...await invariantViolations(db),
      ...await unverified(servers),
      ...await untilEmpty(() => auditViolations(db), { limit_ms: CHAIN_LIMIT_MS }),
    ];
  } finally {
    await db.close();
  }
}

async function unverified(servers: Servers): Promise<string[]> {
  const { outcome } = await must<{ outcome: object }>(servers.urls()[0]!, { method: "GET", path: "/v1/audit/verify" });
  return "Ok" in outcome ? [] : [`INV-17: the audit chain does not verify: ${JSON.stringify(outcome)}`];
}

/**
 * Returns the times from the kill to the acknowledgement by another server, for the operations that lost their answer
 * because of the kill.
 */
function servedAfter({ url, at_ms }: Killed, operations: readonly Operation[]): number[] {
  const held = operations.filter(({ attempts, outcome }) =>
    outcome === "acknowledged" &&
    attempts.some((each) => each.url === url && each.status === null && each.began_ms <= at_ms)
  );
  return held.flatMap(({ attempts }) => {
    const last = attempts.at(-1);
    return last === undefined ? [] : [last.began_ms + last.took_ms - at_ms];
  });
}

/** Kills the database and starts it again after a random outage. */
export async function killDatabase<S>({ cluster, report }: Round<S>, outage_ms_max: number): Promise<void> {
  await cluster.kill(Math.random() < 0.7 ? "SIGKILL" : "SIGQUIT");
  await sleep(Math.random() * outage_ms_max);
  await cluster.restart();
  countFault(report, "database_killed");
}

/** Waits, after a restart of the database, until an operation is acknowledged, and records the time. */
export async function databaseServes<S>({ load, report }: Round<S>): Promise<void> {
  const [ready_ms, before] = [performance.now(), load.acknowledged()];
  const served = await until(() => load.acknowledged() > before, { limit_ms: LIVE_LIMIT_MS, look_ms: LOOK_MS });
  if (served) report.recoveries_ms.database_ready.push(performance.now() - ready_ms);
  else report.violations.push(`round ${report.rounds}: nothing is acknowledged ${LIVE_LIMIT_MS} ms after a restart`);
}

/** Lists the counters that are zero. Such a counter fails the run, because the run did not test its event. */
function silentCounters({ faults, operations, attempts_unanswered, repeated }: Report): string[] {
  // Requests without an answer are required only if servers were killed.
  const unanswered = "server_killed" in faults ? { attempts_unanswered } : {};
  const counters = { ...faults, ...operations, ...unanswered, repeated };
  // Unknown outcomes are not required: a good run has none.
  return Object.entries(counters).filter(([name, count]) => count === 0 && name !== "unknown").map(([name]) => name);
}

async function administer(url: string, statement: string): Promise<void> {
  const client = await openClient({ url, statementLimit_ms: CHECK_LIMIT_MS });
  await client.query(statement);
  await client.end();
}
