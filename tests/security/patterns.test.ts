// A pattern that looks back and tries again can be made to try for hours. Reliability rule S-29: every regular expression
// of the program is asked about texts that are made from it to make it try, of up to 100 KB, and its time must grow as
// the texts do. They are found in the syntax of every file, so none is left out.
import { describe, expect, test } from "vitest";
import { attacksOn, growthError } from "./pattern-attacks.ts";
import { type Pattern, patternsIn, programPatterns } from "./program-patterns.ts";

/** What these read was printed by programs of this project at the demo, some hundred bytes of it. */
const OWN_OUTPUT = /^src\/lab\/stories\//;

const patterns = distinct(programPatterns().filter(({ at }) => !OWN_OUTPUT.test(at)));

function distinct(all: readonly Pattern[]): readonly Pattern[] {
  return [...new Map(all.map((each) => [`/${each.source}/${each.flags}`, each])).values()];
}

/** The first text that makes it try too long, or null. */
function firstError(pattern: Pick<Pattern, "source" | "flags">): string | null {
  for (const attack of attacksOn(pattern)) {
    const error = growthError(pattern, attack);
    if (error !== null) return error;
  }
  return null;
}

test("S-29: literals and constructors are found wherever they are, and what cannot be read is an error", () => {
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

describe("S-29: a pattern whose time grows faster than the text is found:", () => {
  test.each([
    ["a repetition of a repetition", "^(a+)+$"],
    ["words that may be parted anywhere", "^(\\w+\\s?)*$"],
    ["a choice whose parts overlap", "^(?:a|\\w)*$"],
    ["an end that is looked for from every place", "\\s+$"],
    ["a beginning that comes again and again", "[<[][^>\\]]+[>\\]]"],
    ["a word that begins at every hyphen", "\\b[\\w-]*secret"],
    ["one within a lookahead", "(?=(a+)+x)"],
  ])("%s", (_what, source) => {
    expect(firstError({ source, flags: "" })).toMatch(/ ms for /);
  }, 300_000);

  test("and one that is linear is not", () => {
    for (const source of ["^(?:a+b)+$", "(?<!\\s)\\s+$", "(\\w+\\.)*", "^[^]*$", "a+b*"]) {
      expect([source, firstError({ source, flags: "" })]).toEqual([source, null]);
    }
  });
});

test("S-29: the time of every pattern of the program grows as its text does", () => {
  const wrong = patterns.flatMap((pattern) => {
    const error = firstError(pattern);
    return error === null ? [] : [`${pattern.at} /${pattern.source}/${pattern.flags} ${error}`];
  });
  expect(wrong).toEqual([]);
}, 300_000);
