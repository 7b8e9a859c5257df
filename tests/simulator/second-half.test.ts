import { expect, test } from "vitest";
import { silent } from "./counters.ts";
import { trial, trialText } from "./trial.ts";

test("3,000 further histories break no invariant, and every kind of fault occurred", async () => {
  const result = await trial(3_001, 3_000);
  console.log(trialText(result));
  expect(result.failures.map(({ text }) => text.split("\n")[0])).toEqual([]);
  expect(silent(result.counters)).toEqual([]);
}, 300_000);
