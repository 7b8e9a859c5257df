import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "../../src/lib/text/canonical-json.ts";

test("keys are sorted by code unit at every level, without spaces", () => {
  expect(canonicalJson({ b: [{ z: 1, a: null }], a: "x", B: true, "é": 0, "10": 1, "9": 2 }))
    .toBe('{"10":1,"9":2,"B":true,"a":"x","b":[{"a":null,"z":1}],"é":0}');
});

test("-0 and 0 have the same text", () => {
  expect(canonicalJson([-0, 0])).toBe("[0,0]");
});

test.each([
  [1e21, "1e+21"],
  [1e-7, "1e-7"],
  [0.1 + 0.2, "0.30000000000000004"],
  [9007199254740991, "9007199254740991"],
  [5e-324, "5e-324"],
])("the number %d is always written %s", (value, text) => expect(canonicalJson(value)).toBe(text));

test("the text parses to the same value, and canonicalJson returns the same text for the parsed value", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    const text = canonicalJson(value);
    expect(canonicalJson(JSON.parse(text))).toBe(text);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
  }));
});

test("the order in which keys were set has no effect", () => {
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
    const reversed = Object.fromEntries(Object.entries(value).reverse());
    expect(canonicalJson(reversed)).toBe(canonicalJson(value));
  }));
});

test.each([NaN, Infinity, -Infinity, undefined, 1n, Symbol("s"), () => 1, new Date(0), new Map(), /x/])(
  "%s is rejected at the top level, in an array and in an object",
  (leaf) => {
    expect(() => canonicalJson(leaf)).toThrow(TypeError);
    expect(() => canonicalJson([leaf])).toThrow(TypeError);
    expect(() => canonicalJson({ a: { b: leaf } })).toThrow(TypeError);
  },
);

test("a hole in an array is rejected", () => {
  expect(() => canonicalJson(new Array(1))).toThrow(TypeError);
});

test("a cycle is an error", () => {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  expect(() => canonicalJson(cycle)).toThrow(RangeError);
});
