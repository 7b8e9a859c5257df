// Simulates the first 3,000 seeds. second-half.test.ts, part of `deno task test:long`, simulates the next 3,000.
import { expect, test } from "vitest";
import { readCorpus } from "./corpus.ts";
import { silent } from "./counters.ts";
import { run } from "./run.ts";
import { explain, trial, trialText } from "./trial.ts";

test.each(await readCorpus())("a plan that once found a bug breaks no invariant: %s", async (_name, { plan }) => {
  const { violations } = await run(plan);
  expect(violations.length === 0 ? "" : (await explain(plan)).text).toBe("");
});

test("3,000 histories break no invariant, and every kind of fault occurred", async () => {
  const result = await trial(1, 3_000);
  console.log(trialText(result));
  expect(result.failures.map(({ text }) => text.split("\n")[0])).toEqual([]);
  expect(silent(result.counters)).toEqual([]);
}, 300_000);
