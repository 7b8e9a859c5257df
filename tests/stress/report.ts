// Writes the report of a stress test: operations, faults, violations, and an upper bound of the failure rate.

export type Report = {
  rounds: number;
  readonly operations: Record<"acknowledged" | "refused" | "unknown", number>;
  /** The number of faults, by name. */
  readonly faults: Record<string, number>;
  /** The times of recoveries in milliseconds, by name. */
  readonly recoveries_ms: Record<Recovery, number[]>;
  /** The times of operations that were answered at the first attempt, which show how busy the machine was. */
  readonly undisturbed_ms: number[];
  /** Requests whose connection ended without an answer. */
  attempts_unanswered: number;
  /** Operations that needed more than one attempt. */
  repeated: number;
  /** The time of the slowest attempt. An attempt that reaches the client's time limit is a violation. */
  slowest_ms: number;
  readonly violations: string[];
  /** The names of the counters that are zero. Each fails the run, because the run did not test its event. */
  readonly silent: string[];
};

/**
 * The start of a recovery. `server_killed`: each operation that the kill interrupted recovers when another server
 * acknowledges it. `database_ready`: after a restart of the database, the next acknowledged operation ends the
 * recovery.
 */
export type Recovery = "server_killed" | "database_ready";

const VIOLATIONS_SHOWN = 20;
const NAME_CHARACTERS = 28;
/** The limits of both recovery times in milliseconds (docs/reliability.md). */
const PROMISE = "(promised p99 2000, max 5000)";

export function newReport(faults: readonly string[]): Report {
  return {
    rounds: 0,
    operations: { acknowledged: 0, refused: 0, unknown: 0 },
    faults: Object.fromEntries(faults.map((name) => [name, 0])),
    recoveries_ms: { server_killed: [], database_ready: [] },
    undisturbed_ms: [],
    attempts_unanswered: 0,
    repeated: 0,
    slowest_ms: 0,
    violations: [],
    silent: [],
  };
}

/** Counts a fault. */
export function countFault({ faults }: Report, name: string, count = 1): void {
  faults[name] = (faults[name] ?? 0) + count;
}

/** Returns whether there is no violation and every fault occurred. */
export function isGood({ violations, silent }: Report): boolean {
  return violations.length === 0 && silent.length === 0;
}

export function printReport(report: Report): void {
  const { rounds, operations, faults, attempts_unanswered, repeated, violations, silent } = report;
  const cases = operations.acknowledged + operations.refused + operations.unknown;
  const lines = [
    ["rounds", rounds],
    ["operations", cases],
    ...Object.entries(operations).map(([name, count]) => [`  ${name}`, count]),
    ["  repeated until known", repeated],
    ["attempts without an answer", attempts_unanswered],
    ["slowest attempt", `${Math.round(report.slowest_ms)} ms (aim: below 5000)`],
    ...Object.entries(faults).map(([name, count]) => [name.replaceAll("_", " "), count]),
    ["answered at once, after", quantiles(report.undisturbed_ms)],
    ...Object.entries(report.recoveries_ms).filter(([, times_ms]) => times_ms.length > 0)
      .map(([name, times_ms]) => [`${name.replaceAll("_", " ")}, served after`, `${quantiles(times_ms)} ${PROMISE}`]),
    ["violations", violations.length],
  ];
  for (const [name, count] of lines) console.log(`${String(name).padEnd(NAME_CHARACTERS)} ${count}`);
  for (const text of violations.slice(0, VIOLATIONS_SHOWN)) console.log(`  ${text}`);
  for (const name of silent) console.log(`never happened: ${name}`);
  if (violations.length === 0 && cases > 0) {
    // With no failure in n cases, 3/n bounds the failure rate from above at 95 %.
    console.log(`failure rate per operation   below ${(3 / cases).toExponential(1)} (95 %)`);
  }
}

function quantiles(times_ms: readonly number[]): string {
  const sorted = times_ms.toSorted((one, other) => one - other);
  const at = (part: number) => Math.round(sorted[Math.ceil(sorted.length * part) - 1] ?? NaN);
  return `${sorted.length} times: p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} ms`;
}
