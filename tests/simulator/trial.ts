// Simulates many histories, each from its own seed.
import { type Counters, newCounters, silent } from "./counters.ts";
import { type Plan, planFor } from "./plan.ts";
import { failureText } from "./report.ts";
import { run } from "./run.ts";
import { shrink } from "./shrink.ts";

export type Trial = {
  readonly histories: number;
  readonly counters: Counters;
  readonly failures: readonly Failure[];
};

export type Failure = { readonly shrunk: Plan; readonly text: string };

/** The number of failures after which a trial stops, because further failures usually have the same cause. */
const FAILURES_MAX = 3;

/**
 * Runs the seeds from `first_seed` on. Calls `onProgress` with the number of finished histories, every 10,000
 * histories.
 */
export async function trial(
  first_seed: number,
  histories: number,
  onProgress: (done: number) => void = () => {},
): Promise<Trial> {
  const counters = newCounters();
  const failures: Failure[] = [];
  let done = 0;
  while (done < histories && failures.length < FAILURES_MAX) {
    const plan = planFor(first_seed + done);
    const { violations } = await run(plan, counters);
    if (violations.length > 0) failures.push(await explain(plan));
    done += 1;
    if (done % 10_000 === 0) onProgress(done);
  }
  return { histories: done, counters, failures };
}

/** Shrinks a failing plan and describes its failure. */
export async function explain(plan: Plan): Promise<Failure> {
  const { violations } = await run(plan);
  const [first] = violations;
  if (first === undefined) {
    throw new Error(`the plan of seed ${plan.seed} does not fail again: the run depends on more than the plan`);
  }
  const breaksAgain = async (candidate: Plan) =>
    (await run(candidate)).violations.some((each) => each.invariant === first.invariant);
  const shrunk = (await shrink(plan, breaksAgain)).plan;
  return { shrunk, text: failureText(plan, { plan: shrunk, verdict: await run(shrunk) }) };
}

/** Formats the report of a trial: histories, faults, violations, and an upper bound of the failure rate. */
export function trialText(result: Trial): string {
  const { histories, counters, failures } = result;
  const bound = failures.length === 0
    ? `with 95 % confidence the failure rate of such histories is below ${(3 / histories).toExponential(1)} (3/n)`
    : "no bound";
  return [
    ...failures.map(({ text }) => text),
    `histories ${histories}, violations ${failures.length}; ${bound}`,
    "faults:",
    ...Object.entries(counters).map(([name, times]) => `  ${name.padEnd(28)} ${String(times).padStart(9)}`),
    ...silent(counters).map((name) => `never happened: ${name}`),
  ].join("\n");
}
