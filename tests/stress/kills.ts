// Runs two servers on one PostgreSQL under load for some minutes. At random, servers are killed, database connections
// are terminated and the database is killed. deno run -A tests/stress/kills.ts [--minutes N]
import process from "node:process";
import { parseArgs } from "node:util";
import { terminateBackends } from "../processes/database-faults.ts";
import { killEither, type Pair, startPair } from "../processes/pair.ts";
import { countFault, isGood, newReport, printReport, type Report } from "./report.ts";
import { databaseServes, killDatabase, type Round, runRounds } from "./rounds.ts";
import { sleep } from "./waiting.ts";

const MINUTES = "1";
const ROUND_MS = 20_000;
const PAUSE_MS_MAX = 1_500;
const TERMINATING_MS = 1_500;
const OUTAGE_MS_MAX = 800;

const { values } = parseArgs({ options: { minutes: { type: "string", default: MINUTES } } });
const report = await runKills(Number(values.minutes) * 60_000);
printReport(report);
process.exit(isGood(report) ? 0 : 1);

function runKills(duration_ms: number): Promise<Report> {
  const report = newReport(["server_killed", "database_killed", "connection_terminated"]);
  const end = Date.now() + duration_ms;
  return runRounds(report, {
    open: (url) => startPair({ DATABASE_URL: url }),
    causeFaults,
    goesOn: () => Date.now() < end,
  });
}

async function causeFaults(round: Round<Pair>): Promise<void> {
  for (const end = Date.now() + ROUND_MS; Date.now() < end;) {
    await sleep(Math.random() * PAUSE_MS_MAX);
    await causeFault(round);
  }
}

async function causeFault(round: Round<Pair>): Promise<void> {
  const { servers, url, report, killed } = round;
  const dice = Math.random();
  if (dice < 0.4) {
    killed.push(await killEither(servers));
    countFault(report, "server_killed");
  } else if (dice < 0.8) {
    countFault(report, "connection_terminated", await terminateBackends(url, Math.random() * TERMINATING_MS));
  } else {
    await killDatabase(round, OUTAGE_MS_MAX);
    // Sometimes kills the database again before the servers have served a request.
    if (Math.random() < 0.25) await killDatabase(round, OUTAGE_MS_MAX);
    await databaseServes(round);
  }
}
