// The test of the test: each mistake that somebody could make is made, and the checker must see it.
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { SIMULATED_BUGS } from "../../actors/engine/planted.ts";
import { bugLine, catchBug, CAUGHT_BY } from "./planted.ts";

const table: string[] = [];
afterAll(() => console.log(["planted bug, caught by, first in", ...table].join("\n")));

test.each(SIMULATED_BUGS.map((bug) => [bug, CAUGHT_BY[bug]] as const))(
  "%s breaks invariant %s",
  async (bug, invariant) => {
    const first = await catchBug(bug);
    table.push(bugLine(bug, invariant, first));
    expect(first).not.toBeNull();
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
