// Computes the figures of the report from the runs of all rounds.
import type { LoadResult } from "./engine-load.ts";

export type Line = LoadResult & {
  readonly subject: string;
  readonly name: string;
  /** The mean of the pgbench runs before and after the measurement, in transactions per second. */
  readonly pgbench_tps: number | null;
  /** The processor time of pgbench and the server for each transaction, in microseconds. */
  readonly pgbench_cpu_us: number | null;
};

export type Summary = {
  readonly subject: string;
  readonly name: string;
  readonly rounds: number;
  /** The medians over the rounds. The ratio is the median of the rounds' ratios. */
  readonly messages_per_s: number;
  readonly pgbench_tps: number | null;
  readonly ratio: number | null;
  /**
   * The processor time of Berth and the database server for each message, in microseconds. `pgbench_cpu_us` is the time
   * for each transaction of pgbench.
   */
  readonly cpu_us: number | null;
  readonly pgbench_cpu_us: number | null;
  readonly engine_cores: number | null;
  readonly server_cores: number | null;
  readonly load_cores: number | null;
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
};

export function summarise(lines: readonly Line[]): readonly Summary[] {
  const groups = Map.groupBy(lines, (line) => `${line.subject}\0${line.name}`);
  return [...groups.values()].map((group) => ({
    subject: group[0]?.subject ?? "",
    name: group[0]?.name ?? "",
    rounds: group.length,
    messages_per_s: Math.round(median(group.map((line) => line.messages_per_s)) ?? 0),
    pgbench_tps: median(group.map((line) => line.pgbench_tps)),
    ratio: median(group.map((line) => line.pgbench_tps === null ? null : line.messages_per_s / line.pgbench_tps)),
    cpu_us: median(group.map(cpu_us)),
    pgbench_cpu_us: median(group.map((line) => line.pgbench_cpu_us)),
    engine_cores: median(group.map((line) => line.engine_cores)),
    server_cores: median(group.map((line) => line.server_cores)),
    load_cores: median(group.map((line) => line.load_cores ?? null)),
    p50_ms: median(group.map((line) => line.p50_ms ?? null)),
    p99_ms: median(group.map((line) => line.p99_ms ?? null)),
  }));
}

function cpu_us({ engine_cores, server_cores, messages_per_s }: Line): number | null {
  return engine_cores === null || server_cores === null
    ? null
    : (engine_cores + server_cores) / messages_per_s * 1_000_000;
}

export function median(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  const [low, high] = [known[(known.length - 1) >> 1], known[known.length >> 1]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}
