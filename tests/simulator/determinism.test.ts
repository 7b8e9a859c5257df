import { expect, test } from "vitest";
import { type Plan, planFor } from "./plan.ts";
import { run } from "./run.ts";
import { shrink } from "./shrink.ts";

test("a run depends only on its plan: two runs of each of 200 seeds have the same trace", async () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const first = await run(planFor(seed));
    const second = await run(JSON.parse(JSON.stringify(planFor(seed))));
    expect({ seed, trace: second.trace }).toEqual({ seed, trace: first.trace });
  }
}, 60_000);

test("the runs of 50 seeds have 50 different traces", async () => {
  const traces = new Set<number>();
  for (let seed = 1; seed <= 50; seed += 1) traces.add((await run(planFor(seed))).trace);
  expect(traces.size).toBe(50);
});

/** Returns whether the run removes a node. The test of shrinking uses this instead of a violation. */
async function removesNode(plan: Plan): Promise<boolean> {
  const { journal } = await run(plan);
  return journal.transitions.some(({ actor_kind, to_state }) => actor_kind === "cn" && to_state === "absent");
}

test("a failing plan that is shrunk still fails, and has at most 4 commands", async () => {
  for (let seed = 1;; seed += 1) {
    const plan = planFor(seed);
    if (!await removesNode(plan)) continue;
    const small = await shrink(plan, removesNode);
    expect(await removesNode(small.plan)).toBe(true);
    expect(small.plan.commands.length).toBeLessThanOrEqual(4);
    return;
  }
});
