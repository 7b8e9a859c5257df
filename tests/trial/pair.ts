// One pair of commands in every order of their statements: what both hear and what is left must be what one of them
// after the other would have made.
import type { Outcome } from "../../actors/engine/types.ts";
import { type Party, SCHEDULES } from "./gate.ts";
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
  ground(): Promise<G>;
  act(ground: G, party: Party): Promise<Outcome>;
  /** What is left, in words that are the same for every ground. */
  left(ground: G): Promise<unknown>;
};

export async function tryPair<G>(two: TwoEngines, report: PairReport, pair: Pair<G>): Promise<void> {
  report.pairs += 1;
  const ends: string[] = [];
  for (const schedule of SCHEDULES) {
    const ground = await pair.ground();
    const heard: (Outcome | undefined)[] = [];
    const task = (party: Party) => async () => void (heard[party] = await pair.act(ground, party));
    const { waited } = await two.gate.run(schedule, [task(0), task(1)]);
    report.histories += 1;
    if (waited > 0) report.waited += 1;
    if (heard.some((outcome) => outcome?.ok === false)) report.refused += 1;
    ends.push(JSON.stringify([...heard.map(wordsOf), await pair.left(ground)]));
  }
  // The first orders of either half have no change of turn: they say what may be.
  const [one, other] = [ends[0]!, ends[SCHEDULES.length / 2]!];
  for (const [index, end] of ends.entries()) {
    if (end === one || end === other) continue;
    const turns = SCHEDULES[index]!.slice(0, 5).join("");
    const serial = one === other ? one : `${one} or ${other}`;
    report.violations.push(`${pair.name}, turns ${turns}: ${end}, but one after the other makes ${serial}`);
  }
}

function wordsOf(outcome: Outcome | undefined): string {
  if (outcome === undefined) return "nothing";
  return outcome.ok ? "ok" : outcome.fault.message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID");
}
