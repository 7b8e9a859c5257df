// Shrinks a failing plan: removes commands, then kinds of fault, and undoes each removal after which the plan passes.
import type { Plan, Rates } from "./plan.ts";

export type Shrunk = { readonly plan: Plan; readonly runs: number };

/** Returns the smallest failing plan that it finds within `runs_max` runs. */
export async function shrink(
  plan: Plan,
  stillFails: (plan: Plan) => Promise<boolean>,
  runs_max = 1_000,
): Promise<Shrunk> {
  let smallest = plan;
  let runs = 0;

  async function fails(candidate: Plan): Promise<boolean> {
    runs += 1;
    if (!await stillFails(candidate)) return false;
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
