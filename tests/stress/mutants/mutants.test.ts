// Tests that every mutant can be applied to the current sources, and that the checks catch a sample of the mutants.
// `deno task test:long` tests that the simulated histories catch the mutants of the engine and the actors. `deno task
// trial` tests all mutants.
import { afterAll, beforeAll, expect, test } from "vitest";
import { catchSimulated, SIMULATED_MUTANTS } from "./catch.ts";
import { DATABASE_MUTANTS } from "./database.ts";
import { mutated } from "./mutant.ts";
import { copySources, originalSource, type SourceCopy } from "./source-copy.ts";

const ALL = [...SIMULATED_MUTANTS, ...DATABASE_MUTANTS];
/** A mutant of the engine, a mutant of a saga, and an authentication bypass. */
const SAMPLE = ["conflict_is_done", "undo_skipped", "any_code_approves"];

let copy: SourceCopy;
beforeAll(async () => {
  copy = await copySources();
});
afterAll(() => copy.remove());

test.each(ALL)("mutant $name can be applied to the current sources", async ({ edits }) => {
  for (const edit of edits) {
    const source = await originalSource(edit.file);
    expect(mutated(source, edit)).not.toBe(source);
  }
});

test("mutants have different names", () => {
  expect(new Set(ALL.map(({ name }) => name)).size).toBe(ALL.length);
});

test.each([["zero", "a b"], ["two", "text text"]])(
  "a mutant whose text occurs %s times in the source is refused",
  (_times, source) => {
    expect(() => mutated(source, { file: "a.ts", find: "text", replace: "" })).toThrow("expected once");
  },
);

test.each(SIMULATED_MUTANTS.filter(({ name }) => SAMPLE.includes(name)))(
  "mutant $name breaks invariant $caughtBy",
  async (mutant) => expect(await catchSimulated(copy, mutant)).not.toBeNull(),
  60_000,
);

test("no plan of the corpus breaks invariant 2 with the original source", async () => {
  expect(await copy.run(null, ["tests/stress/mutants/search-histories.ts", "2 legal path", "0"])).toBe("");
}, 60_000);
