// One pair of commands in every order of their statements: what both hear and what is left must be what one of them
// after the other would have made.
import type { Outcome } from "../../actors/engine/types.ts";
import { brokenInvariants } from "../doctor/broken.ts";
import { type Party, type Schedule, SCHEDULES } from "./lock-barrier.ts";
import type { TwoEngines } from "./two-engines.ts";

export type PairReport = {
  pairs: number;
  histories: number;
  /** Histories in which one of the two was refused, and in which one waited for the other's lock. */
  refused: number;
  waited: number;
  readonly violations: string[];
};

export const newReport = (): PairReport => ({ pairs: 0, histories: 0, refused: 0, waited: 0, violations: [] });

/** A report stops here: the rest would say the same. */
export const VIOLATIONS_MAX = 20;

export type Pair<G> = {
  readonly name: string;
  /** What the two meet at, made anew for every history. */
  fixture(): Promise<G>;
  act(fixture: G, party: Party): Promise<Outcome>;
  /** What is left, in words that are the same for every ground. */
  left(fixture: G): Promise<unknown>;
  /** What must not be, whatever the order was. */
  wrong?(fixture: G): Promise<readonly string[]>;
  /** Default: what both hear and what is left, together; or each for itself; or only what is left. */
  readonly compared?: "together" | "each" | "left";
};

/** What both heard, and what is left; or all of it in one. */
type End = readonly string[];

export async function tryPair<G>(two: TwoEngines, report: PairReport, pair: Pair<G>): Promise<void> {
  report.pairs += 1;
  const ends: End[] = [];
  // Made at once, which is faster: they have nothing to do with each other.
  const grounds = await Promise.all(SCHEDULES.map(() => pair.fixture()));
  for (const [index, schedule] of SCHEDULES.entries()) {
    const fixture = grounds[index]!;
    const heard: (Outcome | undefined)[] = [];
    const task = (party: Party) => async () => void (heard[party] = await pair.act(fixture, party));
    const { waited } = await two.gate.run(schedule, [task(0), task(1)]);
    report.histories += 1;
    if (waited > 0) report.waited += 1;
    if (heard.some((outcome) => outcome?.ok === false)) report.refused += 1;
    const [both, left] = [heard.map(wordsOf), await pair.left(fixture)];
    ends.push(endOf(pair.compared ?? "together", { both, left }));
    for (const what of await pair.wrong?.(fixture) ?? []) {
      report.violations.push(`${pair.name}, turns ${turnsOf(schedule)}: ${what}`);
    }
  }
  // The first orders of either half have no change of turn: they say what may be.
  const [one, other] = [ends[0]!, ends[SCHEDULES.length / 2]!];
  for (const [index, end] of ends.entries()) {
    for (const [part, text] of end.entries()) {
      if (text === one[part] || text === other[part]) continue;
      const serial = one[part] === other[part] ? one[part] : `${one[part]} or ${other[part]}`;
      const turns = turnsOf(SCHEDULES[index]!);
      report.violations.push(`${pair.name}, turns ${turns}: ${text}, but one after the other makes ${serial}`);
    }
  }
}

/** The rules that hold at any moment, of the whole database. */
export async function checkAll(two: TwoEngines, report: PairReport): Promise<void> {
  // It grows faster than PostgreSQL looks at it by itself, and is read by plans for what it was.
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

function turnsOf(schedule: Schedule): string {
  return schedule.slice(0, 5).join("");
}

function wordsOf(outcome: Outcome | undefined): string {
  if (outcome === undefined) return "nothing";
  return outcome.ok ? "ok" : outcome.fault.message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID");
}
