// A pattern that looks back and tries again can be made to try for hours. Reliability rule S-29. Two halves: no pattern
// of the program repeats something that itself repeats, which is how trying grows without bound; and each was asked
// about long texts of the kind that make one try.
import { describe, expect, test } from "vitest";
import { code, CODE_FOLDERS, sources } from "../house/sources.ts";

type Pattern = { readonly at: string; readonly source: string; readonly flags: string };

const LITERAL =
  /(?<=[=(,:?!&|[{;]\s*|return\s+|^\s*)\/((?:[^\/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)(?=[\s.,;)\]}?:]|$)/gm;

const patterns: readonly Pattern[] = sources(CODE_FOLDERS).flatMap(({ path, text }) =>
  [...code(text).matchAll(LITERAL)].map(([, source = "", flags = ""]) => ({ at: path, source, flags }))
);

/** Whether a group that repeats without end holds something that does, and nothing else that must stand in it. */
function repeatsRepetition(source: string): boolean {
  const bare = source.replace(/\\./g, "e").replace(/\[(?:[^\]])*\]/g, "c");
  const groups = [...bare.matchAll(/\((?:\?[:=!<][=!]?(?:\w+>)?)?([^()]*)\)(?:[*+]|\{\d+,\})/g)];
  return groups.some(([, inside = ""]) => inside.split("|").some((branch) => /^(?:.|\.)[*+]$/.test(branch)));
}

test("S-29: the search finds the program's patterns, and its rule knows a bad one", () => {
  expect(patterns.length).toBeGreaterThan(250);
  for (const { source, flags } of patterns) expect(() => new RegExp(source, flags)).not.toThrow();
  for (const bad of ["^(a+)+$", "(?:[a-z]+)*x", "(\\w*)*", "(?:a|b+)+c"]) {
    expect([bad, repeatsRepetition(bad)]).toEqual([bad, true]);
  }
  for (const good of ["^(?:a+b)+$", "(?:[a-z]-)*x", "(\\w+\\.)*", "a+b*"]) {
    expect([good, repeatsRepetition(good)]).toEqual([good, false]);
  }
});

test("S-29: no pattern repeats what repeats by itself", () => {
  expect(patterns.filter(({ source }) => repeatsRepetition(source)).map(({ at, source }) => `${at}: /${source}/`))
    .toEqual([]);
});

describe("S-29: what reads texts of strangers answers about long ones", () => {
  // What a body, a header or a packet may hold at most decides; here it is what a URI and a header may be together.
  const LENGTH = 16_384;
  const CHARACTERS = ["a", "0", "-", ".", " ", "/", ":", "=", "A", "%", "\t", ","];
  const READERS = /^src\/(?:pure|contract|http|auth|routes)\//;
  const own = patterns.filter(({ at }) => READERS.test(at));

  test("of one character, of a word that almost fits, and of two that take turns", () => {
    expect(own.length).toBeGreaterThan(60);
    const texts = CHARACTERS.flatMap((
      each,
    ) => [each.repeat(LENGTH), `${each.repeat(LENGTH)}\u0001`, `a${each}`.repeat(LENGTH / 2) + "!"]);
    for (const { source, flags } of own) {
      const pattern = new RegExp(source, flags.replace(/[gy]/g, ""));
      // Who tried for hours would not come back; that it came back is the whole answer.
      for (const text of texts) expect([true, false]).toContain(pattern.test(text));
    }
  });
});
