// Makes one table of all rates that have a yardstick: commits in process, requests over HTTP, and created instances.
// Each row has the processor time of the server and of the database for each message, request or created instance.
import type { CreatesLine } from "./creates.ts";
import type { Summary } from "./report.ts";
import type { RequestsLine } from "./requests.ts";

export type TableParts = {
  readonly lines: readonly Summary[];
  readonly requests: readonly RequestsLine[];
  readonly creates: readonly CreatesLine[];
};

type Row = {
  readonly work: string;
  readonly per_s: number;
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  readonly server_cpu_us: number | null;
  readonly database_cpu_us: number | null;
  readonly yardstick: string;
  readonly yardstick_per_s: number | null;
  readonly ratio: number | null;
};

const PGBENCH = "pgbench, simple update";

function rowsOf({ lines, requests, creates }: TableParts): readonly Row[] {
  return [
    ...requests.map(({ name, ...line }) => ({ work: name, ...line })),
    ...lines.map(ofMessages),
    ...creates.map(ofCreates),
  ];
}

function ofMessages(line: Summary): Row {
  const { subject, name, messages_per_s, p50_ms, p99_ms, engine_cores, server_cores, pgbench_tps, ratio } = line;
  const each_us = (cores: number | null) => cores === null ? null : cores * US_PER_S / messages_per_s;
  return {
    work: `${subject}, ${name}`,
    per_s: messages_per_s,
    p50_ms,
    p99_ms,
    server_cpu_us: each_us(engine_cores),
    database_cpu_us: each_us(server_cores),
    yardstick: PGBENCH,
    yardstick_per_s: pgbench_tps,
    ratio,
  };
}

function ofCreates(line: CreatesLine): Row {
  const { name, creates_per_s, p50_ms, p99_ms, server_cpu_ms, database_cpu_ms, pgbench_tps, ratio } = line;
  const inUs = (time_ms: number | null) => time_ms === null ? null : time_ms * US_PER_MS;
  return {
    work: `create an instance, ${name}`,
    per_s: creates_per_s,
    p50_ms,
    p99_ms,
    server_cpu_us: inUs(server_cpu_ms),
    database_cpu_us: inUs(database_cpu_ms),
    yardstick: PGBENCH,
    yardstick_per_s: pgbench_tps,
    ratio,
  };
}

const US_PER_S = 1_000_000;
const US_PER_MS = 1_000;

const COLUMNS: readonly (readonly [string, (row: Row) => string])[] = [
  ["Work", ({ work }) => work],
  ["per s", ({ per_s }) => fixed(per_s, per_s < 100 ? 1 : 0)],
  ["p50 ms", ({ p50_ms }) => fixed(p50_ms, 1)],
  ["p99 ms", ({ p99_ms }) => fixed(p99_ms, 1)],
  ["CPU us: server", ({ server_cpu_us }) => fixed(server_cpu_us, 0)],
  ["CPU us: database", ({ database_cpu_us }) => fixed(database_cpu_us, 0)],
  ["Yardstick", ({ yardstick }) => yardstick],
  ["per s", ({ yardstick_per_s }) => fixed(yardstick_per_s, 0)],
  ["Ratio", ({ ratio }) => fixed(ratio, 3)],
];

/** Prints the table in the format of the README. */
export function printRates(parts: TableParts): void {
  const rows = [COLUMNS.map(([title]) => title), ...rowsOf(parts).map((row) => COLUMNS.map(([, cell]) => cell(row)))];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(" | ")} |`;
  const [titles = [], ...rest] = rows;
  console.log([line(titles), line(widths.map((width) => "-".repeat(width))), ...rest.map(line)].join("\n"));
}

function fixed(value: number | null, digits: number): string {
  return value === null ? "-" : value.toFixed(digits);
}
