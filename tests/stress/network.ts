// Tests two real servers with a failing network to their database. The faults are:
// - connections that are cut at every place of a commit, or in the middle of a message
// - a slow network
// - a server that is cut off and whose data arrives late
// - half-open connections
// Clients record their answers during each fault. After each fault, both servers serve again and every invariant holds
// (docs/reliability.md, R-01, R-03, R-05, R-07).
// `deno run -A tests/stress/network.ts [--rounds N] [--only FAULT]`
import process from "node:process";
import { parseArgs } from "node:util";
import { type Db, openPool } from "../../src/db/pool.ts";
import { ownCluster } from "../support/cluster.ts";
import { must, request } from "../processes/client.ts";
import { auditViolations, historyViolations, invariantViolations } from "../processes/history.ts";
import { startLoad } from "../processes/load.ts";
import { type NetworkSite, openNetworkSite } from "./network-site.ts";
import { type Happened, TROUBLES } from "./network-troubles.ts";
import { sleep, until, untilEmpty } from "./waiting.ts";

const ROUNDS = "2";
/** After the faults, the servers must serve within this time. */
const LIVE = { limit_ms: 30_000 };
/** The time after a fault in which clients repeat their requests and learn the outcomes. */
const CALM_MS = 3_000;
const CHECK_LIMIT_MS = 60_000;

const { values } = parseArgs({
  options: { rounds: { type: "string", default: ROUNDS }, only: { type: "string", default: "" } },
});
process.exit(await runNetwork(Number(values.rounds), values.only) ? 0 : 1);

async function runNetwork(rounds: number, only: string): Promise<boolean> {
  const cluster = await ownCluster({ fsync: "on", max_connections: "200" });
  const site = await openNetworkSite(cluster.url);
  const db = openPool({ url: cluster.url, applicationName: "checks", statementLimit_ms: CHECK_LIMIT_MS });
  let good = true;
  try {
    for (let round = 1; round <= rounds; round += 1) {
      for (const name of Object.keys(TROUBLES)) {
        if (name.includes(only)) good = await tryTrouble(name, { site, db }) && good;
      }
    }
  } finally {
    await site.close();
    await db.close();
    await cluster.remove();
  }
  return good;
}

async function tryTrouble(name: string, { site, db }: { site: NetworkSite; db: Db }): Promise<boolean> {
  const started_ms = performance.now();
  const load = startLoad({ urls: site.urls });
  const striking = TROUBLES[name]!({ site, load }).finally(() => site.places.forEach(({ network }) => network.heal()));
  const happened = await striking.then(async (each) => {
    await sleep(CALM_MS);
    return each;
  }).finally(load.stop);
  const violations = [
    ...await notServing(site),
    ...await historyViolations(db, load.operations),
    ...await invariantViolations(db),
    ...await untilEmpty(() => auditViolations(db), LIVE),
    ...site.places.filter(({ server }) => !server.isRunning()).map(({ server }) => `a server exited: ${server.log()}`),
  ];
  const attempts = load.operations.flatMap((operation) => operation.attempts);
  const unanswered = attempts.filter(({ status }) => status === null || status >= 500).length;
  const took_s = Math.round((performance.now() - started_ms) / 1_000);
  const counts = Object.entries({ "attempts without a good answer": unanswered, ...happened });
  console.log(`${name}: ${load.operations.length} operations, ${violations.length} violations, ${took_s} s`);
  console.log(`  ${counts.map(([what, count]) => `${what} ${count}`).join(", ")}`);
  for (const text of violations) console.log(`  ${text}`);
  const silent = silentOf({ ...happened, operations: load.operations.length });
  for (const what of silent) console.log(`  never happened: ${what}`);
  return violations.length === 0 && silent.length === 0;
}

/** Lists the events that never happened. Such an event fails the run, because the run did not test it. */
function silentOf(happened: Happened): string[] {
  return Object.entries(happened).filter(([, count]) => count === 0).map(([what]) => what);
}

/** Verifies the audit chain through each server. Lists servers that do not answer, and failed verifications. */
async function notServing({ urls }: NetworkSite): Promise<string[]> {
  const wrong: string[] = [];
  for (const url of urls()) {
    const call = { method: "GET", path: "/v1/audit/verify" };
    if (!await until(async () => (await request(url, call)).status === 200, LIVE)) {
      wrong.push(`${url} does not serve`);
      continue;
    }
    const { outcome } = await must<{ outcome: object }>(url, call);
    if (!("Ok" in outcome)) wrong.push(`INV-17: the audit chain does not verify: ${JSON.stringify(outcome)}`);
  }
  return wrong;
}
