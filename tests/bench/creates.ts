// Measures how fast instances are created. The agents of the nodes finish every job at once. So only the control plane
// is measured: request, placement, commit, saga, job, claim, blueprint, end of the job. The runs alternate with runs of
// pgbench on the same database server. Single run: `deno run -A tests/bench/creates.ts`, with --json, --rounds=N,
// --seconds=N.
import process from "node:process";
import { parseArgs } from "node:util";
import { type DbClient, openPool } from "../../src/db/pool.ts";
import { type OwnCluster, ownCluster } from "../support/cluster.ts";
import { START_LIMIT_MS, startServer } from "../support/server-process.ts";
import { benchDatabase } from "./bench-database.ts";
import { type Fleet, startFleet } from "./agents-fleet.ts";
import { cpuTime_ms } from "./cpu-time.ts";
import { type Created, createOne } from "./creates-client.ts";
import { capacityFor, createCall, type CreatesSite, openCreatesSite } from "./creates-site.ts";
import { preparePgbench, type Yardstick } from "./pgbench.ts";
import { median } from "./report.ts";

const NODES = 20;
const SLOTS = 100_000;
const PROJECTS = 8;
/** The loads: the number of create requests that are outstanding at a time, and the number of projects. */
const LOADS = [
  { name: "1 outstanding", clients: 1, projects: 1 },
  { name: "32 outstanding, 1 project", clients: 32, projects: 1 },
  { name: "32 outstanding, 8 projects", clients: 32, projects: PROJECTS },
] as const;
const WARM_UP_MS = 2_000;
const CREATE_LIMIT_MS = 60_000;
const COUNT_LIMIT_MS = 60_000;

export type CreatesLine = {
  readonly name: string;
  readonly creates_per_s: number;
  /** The times of a create request. Null if no request ended in the measured time. */
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  /** Null without pgbench. */
  readonly pgbench_tps: number | null;
  /** The created instances per second, divided by pgbench's transactions per second. Null without pgbench. */
  readonly ratio: number | null;
  /**
   * The processor time for each created instance, in milliseconds. Null if no request ended in the measured time. The
   * times of the server and of the database are also null on systems without /proc.
   */
  readonly server_cpu_ms: number | null;
  readonly database_cpu_ms: number | null;
  readonly agents_cpu_ms: number | null;
};

export type CreatesOptions = {
  readonly cluster: OwnCluster;
  readonly yardstick: Yardstick | null;
  readonly rounds: number;
  readonly seconds: number;
};

/**
 * Measures all loads. Each round runs every load once between two runs of pgbench. Returns the medians over the rounds.
 */
export async function measureCreates({ cluster, yardstick, rounds, seconds }: CreatesOptions): Promise<CreatesLine[]> {
  const url = await benchDatabase(cluster.url, "bench_creates");
  const server = await startServer({ env: { DATABASE_URL: url } });
  const db = openPool({ url, applicationName: "checks", statementLimit_ms: COUNT_LIMIT_MS, connectionsMax: 1 });
  let fleet: Fleet | null = null;
  try {
    const site = await openCreatesSite(server.url, { nodes: NODES, projects: PROJECTS });
    fleet = startFleet({
      ports: [server.port],
      nodes: site.nodes,
      pace: {
        heartbeat_ms: 5_000,
        claim_wait_s: 30,
        error_retry_ms: 500,
        capacity_ms: 30_000,
        status: { check_ms: 500, full_ms: 60_000 },
      },
      capacity: capacityFor(SLOTS),
      beats_once: 0,
      ramp_ms: 5_000,
    });
    await fleet.allAtWork(START_LIMIT_MS);
    const lines: CreatesLine[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = await yardstick?.run(seconds) ?? null;
      const results: Omit<CreatesLine, "pgbench_tps" | "ratio">[] = [];
      for (const load of LOADS) {
        const pids = { server: server.pid, database: cluster.pid() };
        results.push(await runLoad(load, { url: server.url, site, seconds, pids, fleet, db }));
      }
      const after = await yardstick?.run(seconds) ?? null;
      const pgbench_tps = before === null || after === null ? null : (before + after) / 2;
      lines.push(...results.map((result) => ({
        ...result,
        pgbench_tps,
        ratio: pgbench_tps === null ? null : result.creates_per_s / pgbench_tps,
      })));
    }
    return summarise(lines);
  } finally {
    await fleet?.stop();
    await db.close();
    await server.kill();
  }
}

type Load = typeof LOADS[number];
type Place = {
  readonly url: string;
  readonly site: CreatesSite;
  readonly seconds: number;
  readonly pids: { readonly server: number; readonly database: number };
  readonly fleet: Fleet;
  readonly db: DbClient;
};

async function runLoad({ name, clients, projects }: Load, place: Place) {
  const { url, site, seconds, pids, fleet, db } = place;
  const before = await countRunning(db);
  const made: Created[] = [];
  const times_ms: number[] = [];
  const start_ms = performance.now() + WARM_UP_MS;
  const end_ms = start_ms + seconds * 1_000;
  const client = async (index: number) => {
    while (performance.now() < end_ms) {
      const one = await createOne(createCall(site.projects[index % projects]!), {
        urls: () => [url],
        limit_ms: CREATE_LIMIT_MS,
      });
      made.push(one);
      const now_ms = performance.now();
      if (now_ms >= start_ms && now_ms < end_ms) times_ms.push(one.took_ms);
    }
  };
  const all = Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  all.catch(() => {}); // The promise is awaited below.
  const used = () => Promise.all([cpuTime_ms(pids.server), cpuTime_ms(pids.database)]);
  await sleep(WARM_UP_MS);
  await fleet.report();
  const from = await used();
  await sleep(end_ms - performance.now());
  const to = await used();
  const agents = await fleet.report();
  await all;
  const wrong = made.find(({ outcome }) => outcome !== "acknowledged");
  if (wrong !== undefined) throw new Error(`a create request ended as ${wrong.outcome}: ${wrong.said}`);
  const running = await countRunning(db) - before;
  if (running !== made.length) {
    throw new Error(`${made.length} requests were acknowledged, ${running} instances run`);
  }
  const shared = (cpu_ms: number) => times_ms.length === 0 ? null : cpu_ms / times_ms.length;
  const each = (at: 0 | 1) => {
    const [first, last] = [from[at], to[at]];
    return first === null || last === null ? null : shared(last - first);
  };
  const sorted = times_ms.toSorted((a, b) => a - b);
  return {
    name,
    creates_per_s: times_ms.length / seconds,
    p50_ms: sorted[Math.floor(sorted.length * 0.5)] ?? null,
    p99_ms: sorted[Math.floor(sorted.length * 0.99)] ?? null,
    server_cpu_ms: each(0),
    database_cpu_ms: each(1),
    agents_cpu_ms: shared(agents.cpu_ms),
  };
}

async function countRunning(db: DbClient): Promise<number> {
  const { rows: [found] } = await db.query<{ count: number }>(
    "select count(*) as count from instance where state = 'running' and operation_id is null",
  );
  return found!.count;
}

function summarise(lines: readonly CreatesLine[]): CreatesLine[] {
  return [...Map.groupBy(lines, ({ name }) => name)].map(([name, group]) => {
    const middle = (of: (line: CreatesLine) => number | null) => median(group.map(of));
    return {
      name,
      creates_per_s: middle((line) => line.creates_per_s) ?? NaN,
      p50_ms: middle((line) => line.p50_ms),
      p99_ms: middle((line) => line.p99_ms),
      pgbench_tps: middle((line) => line.pgbench_tps),
      ratio: middle((line) => line.ratio),
      server_cpu_ms: middle((line) => line.server_cpu_ms),
      database_cpu_ms: middle((line) => line.database_cpu_ms),
      agents_cpu_ms: middle((line) => line.agents_cpu_ms),
    };
  });
}

const COLUMNS: readonly (readonly [string, (line: CreatesLine) => string])[] = [
  ["creates", (line) => line.name],
  ["per s", (line) => line.creates_per_s.toFixed(1)],
  ["p50 ms", (line) => fixed(line.p50_ms, 0)],
  ["p99 ms", (line) => fixed(line.p99_ms, 0)],
  ["pgbench tps", (line) => fixed(line.pgbench_tps, 0)],
  ["ratio", (line) => fixed(line.ratio, 4)],
  ["CPU ms: server", (line) => fixed(line.server_cpu_ms, 1)],
  ["CPU ms: database", (line) => fixed(line.database_cpu_ms, 1)],
  ["CPU ms: agents", (line) => fixed(line.agents_cpu_ms, 1)],
];

export function printCreates(lines: readonly CreatesLine[]): void {
  const rows = [COLUMNS.map(([title]) => title), ...lines.map((line) => COLUMNS.map(([, cell]) => cell(line)))];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd());
}

function fixed(value: number | null, digits: number): string {
  return value === null ? "-" : value.toFixed(digits);
}

function sleep(duration_ms: number): Promise<void> {
  return new Promise((wake) => setTimeout(wake, Math.max(0, duration_ms)));
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      json: { type: "boolean", default: false },
      rounds: { type: "string", default: "3" },
      seconds: { type: "string", default: "5" },
    },
  });
  const cluster = await ownCluster({ fsync: "on", synchronous_commit: "on" });
  try {
    const yardstick = await preparePgbench(cluster.url);
    const lines = await measureCreates({
      cluster,
      yardstick,
      rounds: Number(values.rounds),
      seconds: Number(values.seconds),
    });
    if (values.json) console.log(JSON.stringify({ measured_at: new Date().toISOString(), creates: lines }, null, 2));
    else printCreates(lines);
  } finally {
    await cluster.remove();
  }
  // Ends the process now, because the database driver keeps idle sockets open for a while.
  process.exit(0);
}
