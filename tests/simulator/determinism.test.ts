import { expect, test } from "vitest";
import { type Plan, planFor } from "./plan.ts";
import { run } from "./run.ts";
import { shrink } from "./shrink.ts";

test("a run depends only on its plan: each of 200 seeds leaves the same trace twice", async () => {
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

/** Replaces a violation in this test: whether the run removes a node. */
async function removesNode(plan: Plan): Promise<boolean> {
  const { journal } = await run(plan);
  return journal.transitions.some(({ actor_kind, to_state }) => actor_kind === "cn" && to_state === "absent");
}

test("shrinking keeps the failure and drops most of the plan", async () => {
  for (let seed = 1;; seed += 1) {
    const plan = planFor(seed);
    if (!await removesNode(plan)) continue;
    const small = await shrink(plan, removesNode);
    expect(await removesNode(small.plan)).toBe(true);
    expect(small.plan.commands.length).toBeLessThanOrEqual(4);
    return;
  }
});
