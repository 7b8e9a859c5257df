// Tests the checker of simulated histories with mutants, which are bugs in copies of the sources. For each mutant, at
// least one history breaks the invariant that must catch the mutant.
import { afterAll, beforeAll, expect, test } from "vitest";
import { catchSimulated, mutantLine, SIMULATED_MUTANTS } from "../stress/mutants/catch.ts";
import { copySources, type SourceCopy } from "../stress/mutants/source-copy.ts";

const table: string[] = [];
let copy: SourceCopy;
beforeAll(async () => {
  copy = await copySources();
});
afterAll(async () => {
  await copy.remove();
  console.log(["mutant, caught by, first in", ...table].join("\n"));
});

test.each(SIMULATED_MUTANTS)("$name breaks invariant $caughtBy", async (mutant) => {
  const first = await catchSimulated(copy, mutant);
  table.push(mutantLine(mutant, first));
  expect(first).not.toBeNull();
}, 120_000);
