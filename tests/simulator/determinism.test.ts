import { expect, test } from "vitest";
import { planFor } from "./plan.ts";
import { run } from "./run.ts";
import { shrink } from "./shrink.ts";
import { plant } from "../../actors/engine/planted.ts";

test("a run is determined by its plan: 200 seeds, twice, leave the same trace", async () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const first = await run(planFor(seed));
    const second = await run(JSON.parse(JSON.stringify(planFor(seed))));
    expect({ seed, trace: second.trace }).toEqual({ seed, trace: first.trace });
  }
}, 60_000);

test("different seeds leave different traces", async () => {
  const traces = new Set<number>();
  for (let seed = 1; seed <= 50; seed += 1) traces.add((await run(planFor(seed))).trace);
  expect(traces.size).toBe(50);
});

test("shrinking keeps the failure and drops most of the plan", async () => {
  plant("any_code_approves");
  try {
    for (let seed = 1;; seed += 1) {
      const plan = planFor(seed);
      const [first] = (await run(plan)).violations;
      if (first === undefined) continue;
      const small = await shrink(plan, first.invariant);
      expect((await run(small.plan)).violations.map((each) => each.invariant)).toContain(first.invariant);
      expect(small.plan.commands.length).toBeLessThanOrEqual(4);
      return;
    }
  } finally {
    plant(null);
  }
});
