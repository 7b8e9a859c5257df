// Terminates the database connections of two servers under load, and kills their database. No server may end, no
// request may hang, and no acknowledged operation may be lost. A client that does not know the outcome of a request
// must learn it by repeating the request with its key (docs/reliability.md, R-04 and R-05). deno run -A
// tests/stress/terminations.ts [--terminations N] [--database-kills N]
import process from "node:process";
import { parseArgs } from "node:util";
import { terminate } from "../processes/database-faults.ts";
import { type Pair, startPair } from "../processes/pair.ts";
import { countFault, isGood, newReport, printReport, type Report } from "./report.ts";
import { databaseServes, killDatabase, type Round, runRounds } from "./rounds.ts";

/** The default number of terminations. */
const TERMINATIONS = "10000";
const DATABASE_KILLS = "200";
/** The maximum number of steps in a round. A step terminates connections, and then kills the database at most once. */
const ROUND_KILLS = 50;
/** The maximum number of terminations in a step. With the default options, each step ends with a database kill. */
const KILL_TERMINATIONS = 50;
const PAUSE_MS_MAX = 30;
const OUTAGE_MS_MAX = 400;

type Goal = { readonly terminations: number; readonly database_kills: number };

const { values } = parseArgs({
  options: {
    terminations: { type: "string", default: TERMINATIONS },
    "database-kills": { type: "string", default: DATABASE_KILLS },
  },
});
const report = await runTerminations({
  terminations: Number(values.terminations),
  database_kills: Number(values["database-kills"]),
});
printReport(report);
process.exit(isGood(report) ? 0 : 1);

function runTerminations(goal: Goal): Promise<Report> {
  const { terminations, database_kills } = goal;
  const report = newReport([
    ...terminations > 0 ? ["connection_terminated", "acknowledged_meanwhile"] : [],
    ...database_kills > 0 ? ["database_killed"] : [],
  ]);
  const steps = Math.max(database_kills, Math.ceil(terminations / KILL_TERMINATIONS));
  let step = 0;
  return runRounds(report, {
    open: (url) => startPair({ DATABASE_URL: url }),
    goesOn: () => step < steps,
    async causeFaults(round) {
      for (const end = Math.min(steps, step + ROUND_KILLS); step < end;) {
        step += 1;
        await terminateUpTo(Math.ceil(terminations * step / steps), round);
        if (database_kills * step / steps <= (report.faults["database_killed"] ?? 0)) continue;
        await killDatabase(round, OUTAGE_MS_MAX);
        await databaseServes(round);
      }
    },
  });
}

async function terminateUpTo(count: number, { url, load, report }: Round<Pair>): Promise<void> {
  const missing = count - (report.faults["connection_terminated"] ?? 0);
  const before = load.acknowledged();
  const goesOn = (terminated: number) => terminated < missing;
  if (missing > 0) {
    countFault(report, "connection_terminated", await terminate({ url, goesOn, pause_ms_max: PAUSE_MS_MAX }));
  }
  countFault(report, "acknowledged_meanwhile", load.acknowledged() - before);
}
