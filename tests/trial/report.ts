// What a trial says for itself: how much was tried, what struck, what broke, and how much a clean run proves.

export type Report = {
  rounds: number;
  readonly operations: Record<"acknowledged" | "refused" | "unknown", number>;
  readonly faults: Record<"server_killed" | "database_killed" | "connection_terminated", number>;
  /** Requests whose connection ended without an answer. */
  attempts_unanswered: number;
  /** Operations that needed more than one attempt. */
  repeated: number;
  readonly violations: string[];
  /** Counters that stayed at zero: such a run is red. */
  readonly silent: string[];
};

const VIOLATIONS_SHOWN = 20;

export function printReport(report: Report): void {
  const { rounds, operations, faults, attempts_unanswered, repeated, violations, silent } = report;
  const cases = operations.acknowledged + operations.refused + operations.unknown;
  const lines = [
    ["rounds", rounds],
    ["operations", cases],
    ...Object.entries(operations).map(([name, count]) => [`  ${name}`, count]),
    ["  repeated until known", repeated],
    ["attempts without an answer", attempts_unanswered],
    ...Object.entries(faults).map(([name, count]) => [name.replaceAll("_", " "), count]),
    ["violations", violations.length],
  ];
  for (const [name, count] of lines) console.log(`${String(name).padEnd(28)} ${count}`);
  for (const text of violations.slice(0, VIOLATIONS_SHOWN)) console.log(`  ${text}`);
  for (const name of silent) console.log(`never happened: ${name}`);
  if (violations.length === 0 && cases > 0) {
    // With no failure in n cases, 3/n bounds the failure rate from above at 95 %.
    console.log(`failure rate per operation   below ${(3 / cases).toExponential(1)} (95 %)`);
  }
}
