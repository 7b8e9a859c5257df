// The test of the test: each mistake that somebody could make is made, and the checker must see it.
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, afterEach, expect, test } from "vitest";
import { plant, type PlantedBug } from "../../actors/engine/planted.ts";
import { planFor } from "./plan.ts";
import { run } from "./run.ts";
import type { Invariant } from "./violation.ts";

/** Which invariant tells of each mistake. */
const CAUGHT_BY: Readonly<Record<PlantedBug, Invariant>> = {
  answer_before_commit: "1 acknowledged means durable",
  exclusive_answers_early: "1 acknowledged means durable",
  conflict_is_done: "1 acknowledged means durable",
  version_not_compared: "6 one writer",
  incarnation_not_compared: "6 one writer",
  fold_forgets_state: "2 legal path",
  decided_by_an_old_clock: "2 legal path",
  reply_of_another: "2 legal path",
  code_never_expires: "2 legal path",
  any_code_approves: "2 legal path",
  disable_keeps_code: "2 legal path",
  credential_not_erased: "2 legal path",
  unknown_is_refusal: "3 refused means untouched",
  refusal_not_stored: "3 refused means untouched",
  refusal_unchecked: "3b justified answer",
  new_id_on_retry: "4 unknown means at most once",
  no_lookup: "4 unknown means at most once",
  requeue_at_the_back: "5 order of time",
  companion_refusal_ignored: "9 credentials",
  rejoin_keeps_key: "9 credentials",
  remove_keeps_key: "9 credentials",
  tell_forgotten: "10 operations come to rest",
  window_budget_not_taken: "14 auto-approve window",
  window_never_expires: "14 auto-approve window",
  audit_dropped: "17 audit",
  claims_leak: "no bug",
};

const SEEDS_MAX = 6_000;
const table: string[] = [];

afterEach(() => plant(null));
afterAll(() => console.log(["planted bug, caught by, first seed", ...table].join("\n")));

test.each(Object.entries(CAUGHT_BY) as [PlantedBug, Invariant][])(
  "%s breaks invariant %s",
  async (bug, invariant) => {
    plant(bug);
    let seed = 1;
    while (seed <= SEEDS_MAX) {
      const { violations } = await run(planFor(seed));
      if (violations.some((each) => each.invariant === invariant)) break;
      seed += 1;
    }
    table.push(`${bug.padEnd(28)} ${invariant.padEnd(30)} ${seed > SEEDS_MAX ? "not caught" : seed}`);
    expect(seed).toBeLessThanOrEqual(SEEDS_MAX);
  },
  120_000,
);

test("nothing but tests can make a mistake on purpose", () => {
  const root = new URL("../../", import.meta.url);
  const callers = ["actors", "src", "cli"].flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && name !== "engine/planted.ts")
      .filter((name) => /\bplant\b/.test(readFileSync(new URL(`${folder}/${name}`, root), "utf8")))
  );
  expect(callers).toEqual([]);
});
