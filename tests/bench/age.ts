// Measures how the cost of requests, sweeps and checks grows with the age of a site. Runs them on databases with few
// and with many rows. A cost is the processor time of PostgreSQL and not the elapsed time, because other programs on
// the machine change the elapsed time. Single run: `deno run -A tests/bench/age.ts`, with options such as
// --sizes=1000,100000,1000000 --group=doctor --json.
import { readdir, readFile } from "node:fs/promises";
import process from "node:process";
import { parseArgs } from "node:util";
import { openPool } from "../../src/db/pool.ts";
import { ownCluster } from "../support/cluster.ts";
import { sizeOf } from "./age-fill.ts";
import { openAgeSite } from "./age-site.ts";
import { type Probe, probesOf } from "./age-probes.ts";
import { median } from "./report.ts";

/** The aim: with each of the --sizes, a cost is at most this multiple of the cost with the first size. */
const RATIO_MAX = 1.2;
/** A growth of the cost by less than this time is noise of the measurement and does not count. */
const NOISE_MS = 0.3;
/**
 * The limits of a probe's measurement. It ends after MEASURE_MS if the probe has run at least RUNS_MIN times. At the
 * latest, it ends after RUNS_MAX runs or SLOW_MS.
 */
const RUNS_MIN = 5;
const RUNS_MAX = 200;
const MEASURE_MS = 400;
/**
 * Unmeasured runs that fill caches and make plans. PostgreSQL can choose a generic plan for a statement after five
 * runs.
 */
const WARMING_RUNS = 6;
/** A probe whose first run takes at least this long gets no other unmeasured runs. */
const SLOW_MS = 3_000;
/**
 * The statement timeout of the probes. A check of a million rows takes longer than the statement timeout of Berth's
 * server.
 */
const STATEMENT_LIMIT_MS = 120_000;

type Cost = { readonly cpu_ms: number; readonly elapsed_ms: number };
type Line = { readonly group: string; readonly name: string; readonly costs: (Cost | null)[] };

const { values } = parseArgs({
  options: {
    sizes: { type: "string", default: "1000,1000000" },
    group: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const sizes = values.sizes.split(",").map(Number);
const note = (line: string) => console.error(line);

const cluster = await ownCluster({ autovacuum: "off", shared_buffers: "1GB", max_wal_size: "8GB" });
try {
  const lines = new Map<string, Line>();
  for (const [column, rows] of sizes.entries()) {
    note(`${rows} rows`);
    const site = await openAgeSite(cluster.url, { name: `age_${rows}`, size: sizeOf(rows), note });
    const limits = { url: site.databaseUrl, statementLimit_ms: STATEMENT_LIMIT_MS };
    const db = openPool({ ...limits, role: "berth_app", connectionsMax: 2 });
    const owner = openPool({ ...limits, connectionsMax: 1 });
    try {
      for (const probe of await probesOf(site, { db, owner })) {
        if (values.group !== undefined && probe.group !== values.group) continue;
        const { group, name } = probe;
        const line = lines.get(name) ?? { group, name, costs: sizes.map(() => null) };
        lines.set(name, line);
        line.costs[column] = await measure(probe);
      }
    } finally {
      await db.close();
      await owner.close();
      await site.close();
    }
  }
  if (values.json) console.log(JSON.stringify({ sizes, lines: [...lines.values()] }, null, 2));
  else print([...lines.values()]);
} finally {
  await cluster.remove();
}
// Ends the process now, because the database driver keeps idle sockets open for a while.
process.exit(0);

/** Returns the processor time of the database and the median elapsed time of one run, or null if the probe failed. */
async function measure({ name, run }: Probe): Promise<Cost | null> {
  try {
    const first_ms = await timeOf(run);
    if (first_ms < SLOW_MS) { for (let warming = 1; warming < WARMING_RUNS; warming++) await run(); }
    const times_ms: number[] = [];
    const before_ms = await databaseTime_ms();
    const started_ms = performance.now();
    while (times_ms.length < RUNS_MAX) {
      times_ms.push(await timeOf(run));
      const elapsed_ms = performance.now() - started_ms;
      if (elapsed_ms > SLOW_MS || (times_ms.length >= RUNS_MIN && elapsed_ms > MEASURE_MS)) break;
    }
    const cpu_ms = (await databaseTime_ms() - before_ms) / times_ms.length;
    return { cpu_ms, elapsed_ms: median(times_ms) ?? NaN };
  } catch (error) {
    note(`  ${name}: ${error instanceof Error ? error.message : error}`);
    return null;
  }
}

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const started_ms = performance.now();
  await run();
  return performance.now() - started_ms;
}

/** Reads the processor time of all child processes of the database server from /proc, in milliseconds. */
async function databaseTime_ms(): Promise<number> {
  const server = cluster.pid();
  let total_ns = 0;
  for (const pid of (await readdir("/proc")).filter((each) => /^\d+$/.test(each))) {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    if (parent !== server) continue;
    total_ns += Number((await readFile(`/proc/${pid}/schedstat`, "utf8").catch(() => "0")).split(" ")[0]);
  }
  return total_ns / 1e6;
}

function print(all: readonly Line[]): void {
  const titles = ["What", ...sizes.map((rows) => `${rows.toLocaleString("en")}`), "Ratio"];
  for (const [group, lines] of Map.groupBy(all, (line) => line.group)) {
    console.log(`\n${group}\n\n| ${titles.join(" | ")} |\n|${titles.map(() => "---").join("|")}|`);
    for (const { name, costs } of lines) {
      const cells = costs.map((cost) => cost === null ? "-" : `${cost.cpu_ms.toFixed(2)} ms`);
      console.log(`| ${[name, ...cells, ratioOf(costs)].join(" | ")} |`);
    }
  }
}

function ratioOf(costs: readonly (Cost | null)[]): string {
  const [first, last] = [costs[0]?.cpu_ms, costs.at(-1)?.cpu_ms];
  if (first === undefined || last === undefined) return "-";
  const ratio = last / first;
  return `${ratio.toFixed(2)}${ratio > RATIO_MAX && last - first > NOISE_MS ? " !" : ""}`;
}
