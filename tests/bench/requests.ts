// Measures requests over HTTP and compares each kind with a yardstick. The yardstick of reads and of a constant answer
// is a bare server of Hono and pg. The yardstick of writes is plain SQL. The server runs as `task start` runs it. Each
// load runs between two runs of its yardstick on the same machine. Single run: `deno run -A tests/bench/requests.ts`,
// with --json, --rounds=N, --seconds=N.
import { spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CN_ROLES } from "../../src/contract/enums.ts";
import { openPool } from "../../src/db/pool.ts";
import { type OwnCluster, ownCluster } from "../support/cluster.ts";
import { ROOT_KEY, startServer } from "../support/server-process.ts";
import { benchDatabase } from "./bench-database.ts";
import { cpuTime_ms } from "./cpu-time.ts";
import { preparePgbench, runBusyRow, type Yardstick } from "./pgbench.ts";
import { median } from "./report.ts";
import { seedNodes } from "./subjects.ts";
import { hasWrk, runWrk, type WrkLoad } from "./wrk.ts";

const DATABASE = "bench_requests";
const NODES = 1_000;
/** The unmeasured time before a load. It warms compiled code, plans and connections. */
const WARM_UP_S = 2;
const COUNT_LIMIT_MS = 60_000;

/**
 * The result of one run of a load or a yardstick: the rate, the times, and the processor time for each request or
 * transaction.
 */
type Measured = {
  readonly per_s: number;
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  readonly server_cpu_us: number | null;
  readonly database_cpu_us: number | null;
};

export type RequestsLine = Measured & {
  readonly name: string;
  readonly yardstick: string;
  readonly yardstick_per_s: number | null;
  readonly yardstick_cpu_us: number | null;
  /** The requests per second divided by the rate of the yardstick. */
  readonly ratio: number | null;
};

type Row = {
  readonly name: string;
  readonly load: Omit<WrkLoad, "url" | "seconds">;
  readonly yardstick: string;
  measure(seconds: number): Promise<Measured | null>;
};

export type RequestsOptions = {
  readonly cluster: OwnCluster;
  readonly yardstick: Yardstick | null;
  readonly rounds: number;
  readonly seconds: number;
};

/**
 * Measures every row of the report. Returns the medians over the rounds. The ratio is the median of the rounds' ratios.
 */
export async function measureRequests(options: RequestsOptions): Promise<RequestsLine[]> {
  if (!hasWrk()) return [];
  const { cluster, rounds, seconds } = options;
  const url = await benchDatabase(cluster.url, DATABASE);
  const owner = openPool({ url, statementLimit_ms: COUNT_LIMIT_MS, connectionsMax: 1 });
  const ids = await seedNodes(owner, NODES);
  await owner.close();
  const server = await startServer({ env: { DATABASE_URL: url, BERTH_LOG_LEVEL: "info" }, as_task: true });
  const bare = await startBare(url);
  try {
    const rows = rowsOf({ ...options, url, ids, bare });
    const lines: RequestsLine[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const row of rows) {
        const before = await row.measure(seconds);
        const measured = await runLoad({ ...row.load, url: server.url, seconds }, server.pid, cluster.pid());
        lines.push(lineOf(row, measured, before, await row.measure(seconds)));
      }
    }
    return summarise(lines);
  } finally {
    bare.stop();
    await server.stop();
  }
}

type Site = RequestsOptions & {
  readonly url: string;
  readonly ids: readonly string[];
  readonly bare: { readonly url: string; readonly pid: number };
};

function rowsOf({ cluster, yardstick, url, ids, bare }: Site): readonly Row[] {
  const operator = { authorization: `Bearer ${ROOT_KEY}` };
  const read = (path: string) => ({ method: "GET" as const, connections: 32, paths: [path], bodies: [] });
  const write = (nodes: readonly string[], connections: number) => ({
    method: "POST" as const,
    connections,
    headers: { ...operator, "content-type": "application/json" },
    paths: nodes.map((id) => `/v1/cns/${id}/role`),
    bodies: CN_ROLES.map((role) => JSON.stringify({ role })),
  });
  const node = `/v1/system/cns/${ids[0]}`;
  const onBare = (path: string) => (seconds: number) =>
    runLoad({ ...read(path), headers: {}, url: bare.url, seconds }, bare.pid, cluster.pid());
  return [
    {
      name: "GET one node, 32 connections",
      load: { ...read(node), headers: operator },
      yardstick: "Hono and pg, one SELECT",
      measure: onBare(node),
    },
    {
      name: `role of ${NODES} nodes, 64 connections`,
      load: write(ids, 64),
      yardstick: "pgbench, simple update",
      measure: (seconds) => measureSql(seconds, cluster, async () => await yardstick?.run(seconds) ?? null),
    },
    {
      name: "role of one node, 32 connections",
      load: write(ids.slice(0, 1), 32),
      yardstick: "one transaction a message",
      measure: (seconds) =>
        measureSql(seconds, cluster, () => runBusyRow({ url, id: ids[1] ?? "", clients: 32 }, seconds)),
    },
    {
      name: "GET /v1/health, 32 connections",
      load: { ...read("/v1/health"), headers: {} },
      yardstick: "Hono, a constant",
      measure: onBare("/v1/health"),
    },
  ];
}

async function runLoad(load: WrkLoad, serverPid: number, databasePid: number): Promise<Measured> {
  await runWrk({ ...load, seconds: WARM_UP_S });
  const used = () => Promise.all([cpuTime_ms(serverPid), cpuTime_ms(databasePid)]);
  const [serverBefore, databaseBefore] = await used();
  const report = await runWrk(load);
  const [serverAfter, databaseAfter] = await used();
  const each = (from: number | null, to: number | null) =>
    from === null || to === null ? null : (to - from) * 1_000 / report.requests;
  return {
    per_s: report.requests_per_s,
    p50_ms: report.p50_ms,
    p99_ms: report.p99_ms,
    server_cpu_us: each(serverBefore, serverAfter),
    database_cpu_us: each(databaseBefore, databaseAfter),
  };
}

async function measureSql(
  seconds: number,
  cluster: OwnCluster,
  run: () => Promise<number | null>,
): Promise<Measured | null> {
  const before_ms = await cpuTime_ms(cluster.pid());
  const per_s = await run();
  const after_ms = await cpuTime_ms(cluster.pid());
  if (per_s === null) return null;
  const database_cpu_us = before_ms === null || after_ms === null
    ? null
    : (after_ms - before_ms) * 1_000 / (per_s * seconds);
  return { per_s, p50_ms: null, p99_ms: null, server_cpu_us: 0, database_cpu_us };
}

function lineOf(row: Row, measured: Measured, before: Measured | null, after: Measured | null): RequestsLine {
  const mean = (of: (one: Measured) => number | null) => {
    const [a, b] = [before === null ? null : of(before), after === null ? null : of(after)];
    return a === null || b === null ? null : (a + b) / 2;
  };
  const yardstick_per_s = mean((one) => one.per_s);
  return {
    ...measured,
    name: row.name,
    yardstick: row.yardstick,
    yardstick_per_s,
    yardstick_cpu_us: mean(cpu_us),
    ratio: yardstick_per_s === null ? null : measured.per_s / yardstick_per_s,
  };
}

function cpu_us({ server_cpu_us, database_cpu_us }: Measured): number | null {
  return server_cpu_us === null || database_cpu_us === null ? null : server_cpu_us + database_cpu_us;
}

function summarise(lines: readonly RequestsLine[]): RequestsLine[] {
  return [...Map.groupBy(lines, ({ name }) => name)].map(([name, group]) => {
    const middle = (of: (line: RequestsLine) => number | null) => median(group.map(of));
    return {
      name,
      yardstick: group[0]?.yardstick ?? "",
      per_s: middle((line) => line.per_s) ?? NaN,
      p50_ms: middle((line) => line.p50_ms),
      p99_ms: middle((line) => line.p99_ms),
      server_cpu_us: middle((line) => line.server_cpu_us),
      database_cpu_us: middle((line) => line.database_cpu_us),
      yardstick_per_s: middle((line) => line.yardstick_per_s),
      yardstick_cpu_us: middle((line) => line.yardstick_cpu_us),
      ratio: middle((line) => line.ratio),
    };
  });
}

const COLUMNS: readonly (readonly [string, (line: RequestsLine) => string])[] = [
  ["requests", (line) => line.name],
  ["per s", (line) => line.per_s.toFixed(0)],
  ["yardstick", (line) => line.yardstick],
  ["per s", (line) => fixed(line.yardstick_per_s, 0)],
  ["ratio", (line) => fixed(line.ratio, 2)],
  ["p50 ms", (line) => fixed(line.p50_ms, 1)],
  ["p99 ms", (line) => fixed(line.p99_ms, 1)],
  ["CPU us: server", (line) => fixed(line.server_cpu_us, 0)],
  ["CPU us: database", (line) => fixed(line.database_cpu_us, 0)],
  ["CPU us: yardstick", (line) => fixed(line.yardstick_cpu_us, 0)],
];

export function printRequests(lines: readonly RequestsLine[]): void {
  if (lines.length === 0) console.log("wrk was not found (Debian has it in wrk): no rates of requests");
  else printCells([COLUMNS.map(([title]) => title), ...lines.map((line) => COLUMNS.map(([, cell]) => cell(line)))]);
}

function printCells(rows: readonly (readonly string[])[]): void {
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd());
}

function fixed(value: number | null, digits: number): string {
  return value === null ? "-" : value.toFixed(digits);
}

async function startBare(url: string) {
  const child = spawn(process.execPath, ["run", "-A", fileURLToPath(new URL("bare-server.ts", import.meta.url))], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATABASE_URL: url },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise<string>((listening, fail) => {
    createInterface({ input: child.stdout }).once("line", listening);
    child.once("close", () => fail(new Error("the bare server ended")));
  });
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop: () => void child.kill() };
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
    const rounds = Number(values.rounds);
    const requests = await measureRequests({ cluster, yardstick, rounds, seconds: Number(values.seconds) });
    if (values.json) console.log(JSON.stringify({ measured_at: new Date().toISOString(), requests }, null, 2));
    else printRequests(requests);
  } finally {
    await cluster.remove();
  }
  // Ends the process now, because the database driver keeps idle sockets open for a while.
  process.exit(0);
}
