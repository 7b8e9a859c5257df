// Sends the same requests to two control planes in one process on one database server. One control plane has very many
// routes and firewall rules, and the other control plane has few. The requests alternate, so that other load on the
// machine affects both. Then the benchmark checks the query plans of each kind of request. Single run, with --json and
// --samples=N: `deno run -A tests/bench/network.ts`.
import process from "node:process";
import { parseArgs } from "node:util";
import { type OwnCluster, ownCluster } from "../support/cluster.ts";
import { type NetworkSite, openNetworkSite, type SiteSize } from "./network-site.ts";
import {
  bodyOf,
  firstPage,
  FREE_NUMBERS,
  idsOf,
  LISTS,
  networkSteps,
  pageAfter,
  RECORDS,
  TABLES,
} from "./network-steps.ts";
import { largeTables, recordPlans, wholeScans } from "./plans.ts";

const FEW: SiteSize = { rows: 1_000, others: 0, rows_each: 0 };
/** 500,000 routes and 500,000 rules. The measured VPC has 100,000 routes and 100,000 rules. */
const MANY: SiteSize = { rows: 100_000, others: 400, rows_each: 1_000 };
export const SAMPLES = 1_000;
const WARMING_SAMPLES = 100;
/** The target: the p99 with many rows is at most this multiple of the p99 with few rows. */
const P99_RATIO_MAX = 1.2;
/** A plan must not scan a whole table that has more rows than this. */
const LARGE_ROWS = 10_000;

type Table = typeof TABLES[number];
type Request = { readonly method: string; readonly path: string; readonly body?: object };

/** The measured requests by kind. `number` differs for each request. */
const REQUESTS: { readonly [name: string]: (site: NetworkSite, table: Table, number: number) => Request } = {
  create: (site, table, number) => ({ method: "POST", path: LISTS[table](site), body: bodyOf(table, number) }),
  get: (site, table) => ({ method: "GET", path: `${RECORDS[table]}/${anyOf(idsOf(site, table))}` }),
  "list, first page": (site, table) => ({ method: "GET", path: firstPage(site, table) }),
  "list, middle page": (site, table) => ({ method: "GET", path: middlePage(site, table) }),
};

export type NetworkLine = {
  readonly name: string;
  readonly samples: number;
  readonly few: Quantiles;
  readonly many: Quantiles;
  readonly p50_ratio: number;
  readonly p99_ratio: number;
  /** The p99 ratio between two halves of the samples with few rows. It shows the noise between equal requests. */
  readonly p99_noise: number;
};
type Quantiles = { readonly p50_ms: number; readonly p99_ms: number };

export type NetworkReport = {
  readonly lines: readonly NetworkLine[];
  readonly plans: number;
  /** Each request that scanned a whole large table, and the name of the table. */
  readonly whole: readonly string[];
};

export async function measureNetwork(cluster: OwnCluster, samples: number): Promise<NetworkReport> {
  const few = await openNetworkSite(cluster.url, { name: "bench_network_few", size: FEW });
  const many = await openNetworkSite(cluster.url, { name: "bench_network_many", size: MANY });
  try {
    const lines = await measure([few, many], samples);
    return { lines, ...await lookAtPlans(cluster, many) };
  } finally {
    await few.close();
    await many.close();
  }
}

async function measure(sites: readonly [NetworkSite, NetworkSite], samples: number): Promise<NetworkLine[]> {
  const series = TABLES.flatMap((table) =>
    Object.entries(REQUESTS).map(([name, request]) => ({
      name: `${table.replace("_", " ")}: ${name}`,
      request: (site: NetworkSite, number: number) => request(site, table, number),
      times_ms: sites.map((): number[] => []),
    }))
  );
  for (let number = -WARMING_SAMPLES; number < samples; number++) {
    for (const { request, times_ms } of series) {
      // Alternates the order of the sites, because the second request finds warm processor caches.
      for (const index of number % 2 === 0 ? [0, 1] : [1, 0]) {
        const site = sites[index]!;
        const ms = await timeOf(site, request(site, FREE_NUMBERS + WARMING_SAMPLES + number));
        if (number >= 0) times_ms[index]!.push(ms);
      }
    }
  }
  return series.map(({ name, times_ms }) => {
    const [few, many] = times_ms.map(quantilesOf) as [Quantiles, Quantiles]; // The samples are in the order of `sites`.
    const p50_ratio = many.p50_ms / few.p50_ms;
    return {
      name,
      samples,
      few,
      many,
      p50_ratio,
      p99_ratio: many.p99_ms / few.p99_ms,
      p99_noise: noiseOf(times_ms[0]!),
    };
  });
}

/**
 * Returns the p99 ratio between two halves of the samples. Each half gets pairs of successive samples, because the
 * order of the sites alternates.
 */
function noiseOf(times_ms: readonly number[]): number {
  const half = (rest: number) => quantilesOf(times_ms.filter((_, n) => (n >> 1) % 2 === rest)).p99_ms;
  const [one, other] = [half(0), half(1)];
  return Math.max(one, other) / Math.min(one, other);
}

async function timeOf(site: NetworkSite, { method, path, body }: Request): Promise<number> {
  const started_at = performance.now();
  const { status, text } = await site.call(method, path, body);
  const ms = performance.now() - started_at;
  if (status !== (method === "POST" ? 201 : 200)) throw new Error(`${site.name}: ${method} ${path}: ${status} ${text}`);
  return ms;
}

function quantilesOf(times_ms: readonly number[]): Quantiles {
  const sorted = times_ms.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? NaN;
  return { p50_ms: at(0.5), p99_ms: at(0.99) };
}

function anyOf(ids: readonly string[]): string {
  return ids[Math.floor(Math.random() * ids.length)] ?? "";
}

/**
 * Returns the path of a page that starts after a random record of the middle half. So whole pages exist before and
 * after this page.
 */
function middlePage(site: NetworkSite, table: Table): string {
  const ids = idsOf(site, table);
  return pageAfter(site, table, ids[Math.floor(ids.length * (1 + 2 * Math.random()) / 4)] ?? "");
}

async function lookAtPlans(cluster: OwnCluster, site: NetworkSite): Promise<Omit<NetworkReport, "lines">> {
  const large = await largeTables(site.databaseUrl, LARGE_ROWS);
  const record = await recordPlans(cluster, site.databaseUrl);
  await site.reopen();
  const whole: string[] = [];
  let plans = 0;
  for (const step of networkSteps(site)) {
    const scans = await record.during(step.run);
    for (const table of step.reads) {
      if (!scans.some((scan) => scan.table === table)) throw new Error(`${step.name}: no plan reads ${table}`);
    }
    plans += new Set(scans.map(({ statement }) => statement)).size;
    whole.push(...wholeScans(scans, large).map(({ table }) => `${step.name}: ${table}`));
  }
  return { plans, whole };
}

const COLUMNS: readonly (readonly [string, (line: NetworkLine) => string])[] = [
  ["request", (line) => line.name],
  ["few: p50 ms", (line) => line.few.p50_ms.toFixed(2)],
  ["p99 ms", (line) => line.few.p99_ms.toFixed(2)],
  ["many: p50 ms", (line) => line.many.p50_ms.toFixed(2)],
  ["p99 ms", (line) => line.many.p99_ms.toFixed(2)],
  ["p50 ratio", (line) => line.p50_ratio.toFixed(2)],
  ["p99 ratio", (line) => line.p99_ratio.toFixed(2)],
  ["few by few", (line) => line.p99_noise.toFixed(2)],
];

export function printNetwork({ lines, plans, whole }: NetworkReport): void {
  const rows = [COLUMNS.map(([title]) => title), ...lines.map((line) => COLUMNS.map(([, cell]) => cell(line)))];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd());
  const met = lines.every(({ p99_ratio }) => p99_ratio <= P99_RATIO_MAX);
  console.log(`aim: a p99 of at most ${P99_RATIO_MAX} x with 1,000 rows: ${met ? "met" : "missed"}`);
  const found = whole.length === 0 ? "none" : `\n  ${whole.join("\n  ")}`;
  console.log(`${plans} statements planned; tables above ${LARGE_ROWS} rows read whole: ${found}`);
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { json: { type: "boolean", default: false }, samples: { type: "string", default: String(SAMPLES) } },
  });
  const cluster = await ownCluster({ fsync: "on", synchronous_commit: "on" });
  try {
    const report = await measureNetwork(cluster, Number(values.samples));
    if (values.json) console.log(JSON.stringify({ measured_at: new Date().toISOString(), ...report }, null, 2));
    else printNetwork(report);
  } finally {
    await cluster.remove();
  }
  // Ends the process now, because the database driver keeps idle sockets open for a while.
  process.exit(0);
}
