// Runs one pair of commands once for each entry of SCHEDULES. An entry sets the order of the two commands' statements.
// The answers and the final state must be the same as when one command runs after the other.
import type { Outcome } from "../../actors/engine/types.ts";
import { brokenInvariants } from "../doctor/broken.ts";
import { type Party, type Schedule, SCHEDULES } from "./lock-barrier.ts";
import type { TwoEngines } from "./two-engines.ts";

export type PairReport = {
  pairs: number;
  histories: number;
  /** Histories in which a command was refused (`refused`), or waited for the other command's lock (`waited`). */
  refused: number;
  waited: number;
  readonly violations: string[];
};

export const newReport = (): PairReport => ({ pairs: 0, histories: 0, refused: 0, waited: 0, violations: [] });

/** The number of violations after which a run stops, because further violations usually have the same cause. */
export const VIOLATIONS_MAX = 20;

export type Pair<G> = {
  readonly name: string;
  /** Creates the objects on which the commands act. Called for every history. */
  fixture(): Promise<G>;
  act(fixture: G, party: Party): Promise<Outcome>;
  /** Returns the final state, in a form that is the same for every fixture. */
  left(fixture: G): Promise<unknown>;
  /** Lists violations of rules that must hold after every order. */
  wrong?(fixture: G): Promise<readonly string[]>;
  /**
   * "together" (default) compares answers and final state as one, "each" compares them separately, "left" compares only
   * the final state.
   */
  readonly compared?: "together" | "each" | "left";
};

/** The result of a history: the texts that are compared, which are the answers, the final state, or both. */
type End = readonly string[];

export async function tryPair<G>(two: TwoEngines, report: PairReport, pair: Pair<G>): Promise<void> {
  report.pairs += 1;
  const ends: End[] = [];
  // The fixtures are independent, so they are created concurrently, which is faster.
  const fixtures = await Promise.all(SCHEDULES.map(() => pair.fixture()));
  for (const [index, schedule] of SCHEDULES.entries()) {
    const fixture = fixtures[index]!;
    const outcomes: (Outcome | undefined)[] = [];
    const task = (party: Party) => async () => void (outcomes[party] = await pair.act(fixture, party));
    const { waited } = await two.barrier.run(schedule, [task(0), task(1)]);
    report.histories += 1;
    if (waited > 0) report.waited += 1;
    if (outcomes.some((outcome) => outcome?.ok === false)) report.refused += 1;
    const [both, left] = [outcomes.map(textOf), await pair.left(fixture)];
    ends.push(endOf(pair.compared ?? "together", { both, left }));
    for (const what of await pair.wrong?.(fixture) ?? []) {
      report.violations.push(`${pair.name}, order ${orderOf(schedule)}: ${what}`);
    }
  }
  // In the first order of each half, one command runs completely before the other. Only the results of these two orders
  // are allowed.
  const [one, other] = [ends[0]!, ends[SCHEDULES.length / 2]!];
  for (const [index, end] of ends.entries()) {
    for (const [part, text] of end.entries()) {
      if (text === one[part] || text === other[part]) continue;
      const serial = one[part] === other[part] ? one[part] : `${one[part]} or ${other[part]}`;
      const order = orderOf(SCHEDULES[index]!);
      report.violations.push(`${pair.name}, order ${order}: ${text}, but the serial result is ${serial}`);
    }
  }
}

/** Checks the invariants of the whole database. */
export async function checkAll(two: TwoEngines, report: PairReport): Promise<void> {
  // The tables grow faster than autovacuum analyzes them, and old statistics give slow plans.
  await two.db.query("analyze");
  report.violations.push(...await brokenInvariants(two.db));
}

function endOf(
  compared: "together" | "each" | "left",
  { both, left }: { both: readonly string[]; left: unknown },
): End {
  switch (compared) {
    case "together":
      return [JSON.stringify([...both, left])];
    case "each":
      return [JSON.stringify(both), JSON.stringify(left)];
    case "left":
      return [JSON.stringify(left)];
  }
}

function orderOf(schedule: Schedule): string {
  return schedule.slice(0, 5).join("");
}

function textOf(outcome: Outcome | undefined): string {
  if (outcome === undefined) return "nothing";
  return outcome.ok ? "ok" : outcome.fault.message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID");
}
