// Records the reports of real agents and of a machine in setup. Replays them in random order, with the same key,
// another node's key or a revoked key. The replays come during jobs and setups, after their end, and during a later
// setup of the same machine. Replays while nothing else runs may cause only the changes that reports-state.ts allows.
// The last part tests jobs without a notification (docs/reliability.md, R-09 and R-30). deno run -A
// tests/stress/reports.ts [--replays N] [--seed N]
import process from "node:process";
import { parseArgs } from "node:util";
import { type Db, openPool } from "../../src/db/pool.ts";
import { brokenInvariants } from "../doctor/broken.ts";
import { ownCluster } from "../support/cluster.ts";
import { openTestControlPlane } from "../support/control-plane.ts";
import { settle } from "../setup/machine.ts";
import { stream } from "../simulator/chance.ts";
import { openWire, REPORT_KINDS, type Wire } from "./reports-record.ts";
import { newTally, replay, type Tally } from "./reports-replay.ts";
import { openReportsSite, type ReportsSite } from "./reports-site.ts";
import { effects, readState } from "./reports-state.ts";
import { stagesOf } from "./reports-scenario.ts";
import { GOAL_MS, takeUnnotified } from "./reports-unnotified.ts";

type Run = {
  readonly wire: Wire;
  readonly site: ReportsSite;
  readonly db: Db;
  readonly random: () => number;
  readonly all: ReturnType<typeof newTally>;
  readonly violations: string[];
};

const REPLAYS = 100_000;
const STATEMENT_LIMIT_MS = 60_000;
const SHOWN = 20;
/** The share of replays that happen while nodes work. */
const WORKING_SHARE = 0.1;
const AT_ONCE_WORKING = 4;
const AT_ONCE = 256;

const { values } = parseArgs({
  options: { replays: { type: "string", default: String(REPLAYS) }, seed: { type: "string", default: "1" } },
});
process.exit(await runReports(Number(values.replays), Number(values.seed)) ? 0 : 1);

async function runReports(replays: number, seed: number): Promise<boolean> {
  const cluster = await ownCluster({ fsync: "off" });
  const db = openPool({ url: cluster.url, applicationName: "checks", statementLimit_ms: STATEMENT_LIMIT_MS });
  const first = await openTestControlPlane({ databaseUrl: cluster.url });
  const wire = openWire([first, await openTestControlPlane({ databaseUrl: cluster.url })]);
  const site = await openReportsSite(wire.t);
  const run: Run = { wire, site, db, random: stream(seed), all: newTally(), violations: [] };
  try {
    const stages = stagesOf(site);
    for (const [index, stage] of stages.entries()) {
      const count = Math.ceil((replays - run.all.total()) / (stages.length - index));
      await Promise.all([stage.run(), replayDuringWork(run, Math.floor(count * WORKING_SHARE))]);
      await site.stop();
      await settle(wire.t);
      await replayAtRest(run, stage.name, Math.ceil(count * (1 - WORKING_SHARE)));
    }
    run.violations.push(...run.all.odd());
    const deaf = await openTestControlPlane({ databaseUrl: cluster.url, resident: false });
    const { jobs, p50_ms, p99_ms, violations } = await takeUnnotified(deaf, run.random).finally(() => deaf.close());
    run.violations.push(...violations);
    console.log(`${jobs} jobs without a notification: p50 ${Math.round(p50_ms)} ms, p99 ${Math.round(p99_ms)} ms`);
    if (p99_ms > GOAL_MS) console.log(`  slower than ${GOAL_MS} ms, as it is on a busy machine`);
    return print(run);
  } finally {
    await site.close();
    await wire.close();
    await db.close();
    await cluster.remove();
  }
}

/** Replays reports while nodes work. The results of their jobs must not change. */
async function replayDuringWork({ wire, site, random, all }: Run, count: number): Promise<void> {
  const any = () => REPORT_KINDS.some((kind) => wire.sent[kind].length > 0);
  if (!any()) return;
  // Without registrations, because a registration of a disabled node creates another claim code.
  await replay(count, {
    wire,
    random,
    keys: site.keys,
    tallies: [all],
    at_once: AT_ONCE_WORKING,
    except: ["registration"],
  });
}

/** Replays recorded reports while nothing else runs, and records forbidden changes as violations. */
async function replayAtRest(
  { wire, site, db, random, all, violations }: Run,
  name: string,
  count: number,
): Promise<void> {
  const tally = newTally();
  const before = await readState(db);
  const start_ms = performance.now();
  await replay(count, { wire, random, keys: site.keys, tallies: [tally, all], at_once: AT_ONCE });
  const rate = Math.round(count * 1_000 / (performance.now() - start_ms));
  await settle(wire.t);
  const found = [
    ...effects(before, await readState(db), tally),
    ...await brokenInvariants(db),
  ];
  violations.push(...found.map((what) => `${name}: ${what}`));
  console.log(`${name}: ${tally.total()} replays, ${rate} a second, ${found.length} effects`);
}

function print({ wire, all, violations }: Run): boolean {
  for (const kind of REPORT_KINDS) {
    console.log(`${kind.padEnd(16)} ${wire.sent[kind].length} sent; ${answersOf(all, kind)}`);
  }
  for (const [way, count] of Object.entries(all.ways)) console.log(`${way.padEnd(24)} ${count}`);
  console.log(`replays ${all.total()}, violations ${violations.length}`);
  for (const text of violations.slice(0, SHOWN)) console.log(`  ${text}`);
  const silent = [
    ...REPORT_KINDS.filter((kind) => wire.sent[kind].length === 0),
    ...Object.entries(all.ways).filter(([, count]) => count === 0).map(([way]) => way),
    ...(all.answered("job progress", 200) === 0 ? ["replayed progress of a claimed job"] : []),
    ...[200, 401, 403, 409].filter((status) => all.withStatus(status) === 0).map((status) => `the answer ${status}`),
  ];
  for (const what of silent) console.log(`never happened: ${what}`);
  return violations.length === 0 && silent.length === 0;
}

function answersOf({ answers }: Tally, kind: string): string {
  return [...answers].filter(([what]) => what.slice(0, what.lastIndexOf(" ")) === kind)
    .map(([what, count]) => `${what.slice(what.lastIndexOf(" ") + 1)} ${count} times`).join(", ");
}
