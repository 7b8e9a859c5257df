// Runs pairs of commands and of operations on a real PostgreSQL. The statements of a pair run in each order of
// SCHEDULES (lock-barrier.ts). `--every N` runs only every nth pair. deno run -A tests/stress/pairs.ts [--every N]
// [--only PART]
import process from "node:process";
import { parseArgs } from "node:util";
import { ownCluster } from "../support/cluster.ts";
import { runHostPairs } from "./host-pairs.ts";
import { runNodePairs } from "./node-pairs.ts";
import type { PairReport } from "./pair.ts";
import { runParentPairs } from "./parent-pairs.ts";
import { openTwoEngines, type TwoEngines } from "./two-engines.ts";

const PARTS: Readonly<Record<string, (two: TwoEngines, every: number) => Promise<PairReport>>> = {
  "commands on one node": runNodePairs,
  "operations on shared parents": runParentPairs,
  "operations on instances and addresses": runHostPairs,
};

const { values } = parseArgs({
  options: { every: { type: "string", default: "1" }, only: { type: "string", default: "" } },
});
process.exit(await runPairs(Number(values.every), values.only) ? 0 : 1);

/** Runs all parts concurrently, each on its own database, because a single part mostly waits for PostgreSQL. */
async function runPairs(every: number, only: string): Promise<boolean> {
  const cluster = await ownCluster({ fsync: "off", max_connections: "60" });
  try {
    const parts = Object.entries(PARTS).filter(([name]) => name.includes(only));
    const good = await Promise.all(parts.map(async ([name, run], index) => {
      const two = await openTwoEngines(cluster.url, `pairs_${index}`);
      try {
        const report = await run(two, every);
        print(name, report);
        return report.violations.length === 0 && silent(report).length === 0;
      } finally {
        await two.close();
      }
    }));
    return good.every((each) => each);
  } finally {
    await cluster.remove();
  }
}

function print(name: string, report: PairReport): void {
  const { pairs, histories, refused, waited, violations } = report;
  console.log(`${name}: ${pairs} pairs, ${histories} histories, ${violations.length} violations`);
  console.log(`  one refused ${refused}, one waited for the other's lock ${waited}`);
  for (const text of violations) console.log(`  ${text}`);
  for (const what of silent(report)) console.log(`  never happened: ${what}`);
  if (violations.length === 0) {
    // With no failure in n cases, 3/n bounds the failure rate from above at 95 %.
    console.log(`  failure rate per history below ${(3 / histories).toExponential(1)} (95 %)`);
  }
}

/** Lists the counters that are zero. Such a counter fails the run, because the run did not test its event. */
function silent({ histories, refused }: PairReport): string[] {
  return Object.entries({ histories, refused }).filter(([, count]) => count === 0).map(([what]) => what);
}
