// Makes a failing plan small: commands go, then kinds of fault, as long as the same invariant still breaks.
import type { Plan, Rates } from "./plan.ts";
import { run } from "./run.ts";
import type { Invariant } from "./violation.ts";

export type Shrunk = { readonly plan: Plan; readonly runs: number };

/** At most `runs_max` runs; what is small by then is handed back. */
export async function shrink(plan: Plan, invariant: Invariant, runs_max = 1_000): Promise<Shrunk> {
  let smallest = plan;
  let runs = 0;

  async function fails(candidate: Plan): Promise<boolean> {
    runs += 1;
    const { violations } = await run(candidate);
    if (!violations.some((each) => each.invariant === invariant)) return false;
    smallest = candidate;
    return true;
  }

  for (let size = plan.commands.length >> 1; size >= 1 && runs < runs_max;) {
    let smaller = false;
    for (let from = 0; from < smallest.commands.length && runs < runs_max;) {
      const commands = smallest.commands.toSpliced(from, size);
      if (await fails({ ...smallest, commands })) smaller = true;
      else from += size;
    }
    if (!smaller || size > 1) size = size >> 1;
  }
  for (const rate of Object.keys(plan.rates) as (keyof Rates)[]) {
    if (smallest.rates[rate] > 0 && runs < runs_max) {
      await fails({ ...smallest, rates: { ...smallest.rates, [rate]: 0 } });
    }
  }
  return { plan: smallest, runs };
}
