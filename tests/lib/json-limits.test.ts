// Tests the checks of JSON text before it is parsed.
import fc from "fast-check";
import { expect, test } from "vitest";
import { JSON_DEPTH_MAX, JSON_ELEMENTS_MAX } from "../../src/contract/limits.ts";
import { jsonLimits } from "../../src/lib/text/json-limits.ts";

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

test("ordinary JSON passes", () => {
  fc.assert(fc.property(fc.json(), (text) => {
    fc.pre(!/\\u0000|\\ud[89a-f]|__proto__|\d{16}/i.test(text) && text.isWellFormed());
    expect(jsonLimits(text)).toBeNull();
  }));
});

test("S-28: the deepest allowed nesting passes, and one more level is rejected", () => {
  expect(jsonLimits(nested(JSON_DEPTH_MAX))).toBeNull();
  expect(jsonLimits(nested(JSON_DEPTH_MAX + 1))).toContain("nested deeper");
  expect(jsonLimits('{"a":'.repeat(JSON_DEPTH_MAX + 1))).toContain("nested deeper");
  expect(jsonLimits(`[${"[],".repeat(JSON_DEPTH_MAX * 2)}[]]`)).toBeNull();
});

test("array items and object members are counted together, and keys are not counted twice", () => {
  const items = (count: number) => JSON.stringify(Array(count).fill(true));
  const members = (count: number) =>
    JSON.stringify(Object.fromEntries(Array(count).entries().map(([i]) => [`k${i}`, i])));
  expect(jsonLimits(items(JSON_ELEMENTS_MAX))).toBeNull();
  expect(jsonLimits(items(JSON_ELEMENTS_MAX + 1))).toContain("must not hold more");
  expect(jsonLimits(members(JSON_ELEMENTS_MAX))).toBeNull();
  expect(jsonLimits(members(JSON_ELEMENTS_MAX + 1))).toContain("must not hold more");
  const half = JSON_ELEMENTS_MAX / 2;
  expect(jsonLimits(`[${items(half - 1)},${members(half - 1)}]`)).toBeNull();
  expect(jsonLimits(`[${items(half - 1)},${members(half)}]`)).toContain("must not hold more");
});

test.each(["9007199254740991", "-9007199254740991", "0", "-0", "1.5", "1e308", "9007199254740993.5", "[1e5]"])(
  "the number %s passes",
  (text) => expect(jsonLimits(text)).toBeNull(),
);

test.each(["9007199254740992", "-9007199254740992", "[18446744073709551615]", '{"a":9007199254740993}'])(
  "the integer in %s would be rounded, so it is rejected",
  (text) => expect(jsonLimits(text)).toContain("integers"),
);

test.each(["1e309", "[-1e309]", "1.0E+400"])("the number in %s is rejected", (text) => {
  expect(jsonLimits(text)).toContain("64-bit float");
});

test("a digit inside a string is not a number", () => {
  expect(jsonLimits('{"99999999999999999999":"99999999999999999999 1e999"}')).toBeNull();
});

test.each([
  '{"a":1,"a":1}',
  '{"a":1,"b":2,"\\u0061":3}',
  '[{"x":{"k":[],"k":1}}]',
  '{"":1,"":2}',
  '{ "a" : 1 , "a" : 2 }',
])(
  "the repeated key in %s is rejected",
  (text) => expect(jsonLimits(text)).toContain("repeat a key"),
);

test.each(['{"a":"a","b":"a"}', '{"a":{"a":{"a":1}}}', '[{"a":1},{"a":1}]', '{"a":["a","a"]}', '{"a":{"b":1},"b":2}'])(
  "no key repeats in %s",
  (text) => expect(jsonLimits(text)).toBeNull(),
);

test("the key __proto__ is rejected in every spelling; the value __proto__ passes", () => {
  expect(jsonLimits('{"__proto__":{}}')).toContain("__proto__");
  expect(jsonLimits('[{"\\u005f_proto__":1}]')).toContain("__proto__");
  expect(jsonLimits('{"a":"__proto__"}')).toBeNull();
});

test.each([
  '"\\ud83d"',
  '"\\ude00"',
  '"\\ude00\\ud83d"',
  '"\\ud83d \\ude00"',
  '"\\ud83d\\n\\ude00"',
  '"\\ud83d\\ud83d\\ude00"',
  '"\ud83d"',
])(
  "half of a surrogate pair is rejected: %s",
  (text) => expect(jsonLimits(text)).toContain("surrogate"),
);

test("a whole surrogate pair passes, and an escaped backslash starts no escape", () => {
  expect(jsonLimits('"\\ud83d\\ude00\\uD83D\\uDE00 😀"')).toBeNull();
  expect(jsonLimits('"\\\\ud83d \\\\u0000"')).toBeNull();
});

test("an escaped NUL is rejected", () => {
  expect(jsonLimits('{"a":["\\u0000"]}')).toContain("NUL");
});

const HOSTILE = ["[", '"\\', '{"', "1", "\\u", '"a",', "[]", "t"];

test.each(HOSTILE)("a text that repeats %s is read with at most five reads per character on average", (part) => {
  const text = part.repeat(1_000);
  const { counted, reads } = countReads(text);
  expect(jsonLimits(counted)).toBe(jsonLimits(text));
  expect(reads()).toBeLessThanOrEqual(5 * text.length);
});

/** Returns the text with a count of the characters that were read from it, one by one or in slices. */
function countReads(text: string): { readonly counted: string; readonly reads: () => number } {
  let reads = 0;
  const counted = new Proxy(Object(text), {
    get(_, name) {
      if (name === "slice") return (from: number, to: number) => counting(text.slice(from, to));
      const member = Reflect.get(Object(text), name);
      if (typeof member === "function") return member.bind(text);
      return name === "length" ? member : counting(member);
    },
  });
  const counting = (taken: string) => {
    reads += taken.length;
    return taken;
  };
  return { counted, reads: () => reads };
}

test("jsonLimits returns a result for a megabyte of each hostile text", () => {
  const answers = HOSTILE.map((part) => jsonLimits(part.repeat(2 ** 20 / part.length)));
  expect(answers).toMatchInlineSnapshot(`
    [
      "JSON must not be nested deeper than 64 levels",
      null,
      "JSON must not be nested deeper than 64 levels",
      "JSON integers must be within ±9007199254740991",
      null,
      null,
      null,
      null,
    ]
  `);
  expect(jsonLimits(JSON.stringify(Array(9_999).fill("x".repeat(100))))).toBeNull();
});
