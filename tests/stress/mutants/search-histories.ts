// Searches for a simulated history that breaks the invariant: first in the plans of the corpus, then by seeds. Prints
// the name of the plan or `seed N`. Prints nothing if no history breaks the invariant:
// deno run -A tests/stress/mutants/search-histories.ts INVARIANT [SEEDS]
import process from "node:process";
import { readCorpus } from "../../simulator/corpus.ts";
import { type Plan, planFor } from "../../simulator/plan.ts";
import { run } from "../../simulator/run.ts";

/** The default number of seeds to search. This number suffices to catch every existing mutant. */
const SEEDS_MAX = 6_000;

const [invariant, seeds] = process.argv.slice(2);
const seeds_max = seeds === undefined ? SEEDS_MAX : Number(seeds);

const first = await search();
if (first !== null) console.log(first);

/** Searches the corpus first, because a plan that once found a bug finds the same bug again at once. */
async function search(): Promise<string | null> {
  for (const [name, { plan }] of await readCorpus()) if (await breaks(plan)) return name;
  for (let seed = 1; seed <= seeds_max; seed += 1) if (await breaks(planFor(seed))) return `seed ${seed}`;
  return null;
}

async function breaks(plan: Plan): Promise<boolean> {
  return (await run(plan)).violations.some((each) => each.invariant === invariant);
}
