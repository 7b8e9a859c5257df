// Backtracking can make a pattern run for hours. So every regular expression of the program is run on texts of up to
// 100 KB that are built to make it backtrack. The time must grow linearly (docs/reliability.md S-29). The test parses
// every source file, so it misses no expression.
import { describe, expect, test } from "vitest";
import { attacksOn, growthError } from "./pattern-attacks.ts";
import { type Pattern, patternsIn, programPatterns } from "./program-patterns.ts";

/** These patterns only read some hundred bytes that the dev environment's own programs print. */
const OWN_OUTPUT = /^src\/dev\/scenarios\//;

const patterns = distinct(programPatterns().filter(({ at }) => !OWN_OUTPUT.test(at)));

function distinct(all: readonly Pattern[]): readonly Pattern[] {
  return [...new Map(all.map((each) => [`/${each.source}/${each.flags}`, each])).values()];
}

/** Returns the error of the first attack that takes too long, or null. */
function firstError(pattern: Pick<Pattern, "source" | "flags">): string | null {
  for (const attack of attacksOn(pattern)) {
    const error = growthError(pattern, attack);
    if (error !== null) return error;
  }
  return null;
}

test("S-29: literals and constructors are found everywhere, and an unreadable pattern is an error", () => {
  const text = [
    "const a = x / 2 / y; const url = `/${a}/`;",
    "z.string().regex(/^a+$/u);",
    'if (/b\\/[/]/i.test(c)) f(new RegExp(`^${PREFIX}[0-9]{1,${LENGTH_MAX}}$`, "g"), RegExp("c*"));',
  ].join("\n");
  expect(patternsIn("x.ts", text)).toEqual([
    { at: "x.ts:2", source: "^a+$", flags: "u" },
    { at: "x.ts:3", source: "b\\/[/]", flags: "i" },
    { at: "x.ts:3", source: "^word[0-9]{1,64}$", flags: "g" },
    { at: "x.ts:3", source: "c*", flags: "" },
  ]);
  expect(() => patternsIn("x.ts", "new RegExp(given)")).toThrow("x.ts:1");
  expect(patterns.length).toBeGreaterThan(200);
});

describe("S-29: the check reports a pattern whose time grows faster than its text:", () => {
  test.each([
    ["a repetition of a repetition", "^(a+)+$"],
    ["words that can be split anywhere", "^(\\w+\\s?)*$"],
    ["a choice whose parts overlap", "^(?:a|\\w)*$"],
    ["an end that is tried from every position", "\\s+$"],
    ["a beginning that is repeated", "[<[][^>\\]]+[>\\]]"],
    ["a word that starts at every hyphen", "\\b[\\w-]*secret"],
    ["a nested repetition in a lookahead", "(?=(a+)+x)"],
  ])("%s", (_what, source) => {
    expect(firstError({ source, flags: "" })).toMatch(/ ms for /);
  }, 300_000);

  test("but no pattern with linear time", () => {
    for (const source of ["^(?:a+b)+$", "(?<!\\s)\\s+$", "(\\w+\\.)*", "^[^]*$", "a+b*"]) {
      expect([source, firstError({ source, flags: "" })]).toEqual([source, null]);
    }
  });
});

test("S-29: the time of every pattern of the program grows linearly", () => {
  const wrong = patterns.flatMap((pattern) => {
    const error = firstError(pattern);
    return error === null ? [] : [`${pattern.at} /${pattern.source}/${pattern.flags} ${error}`];
  });
  expect(wrong).toEqual([]);
}, 300_000);
