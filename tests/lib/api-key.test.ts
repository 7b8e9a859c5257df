import fc from "fast-check";
import { expect, test } from "vitest";
import { formatApiKey, parseApiKey } from "../../src/lib/ids/api-key.ts";

const part = (chars: number) =>
  fc.string({ unit: fc.constantFrom(..."ABCxyz019_-"), minLength: chars, maxLength: chars });
const GOOD = `opsk_${"a".repeat(12)}_${"b".repeat(32)}`;

test("a key is parsed by position, even if its parts contain underscores and hyphens", () => {
  fc.assert(fc.property(part(12), part(32), (lookup, secret) => {
    expect(parseApiKey(formatApiKey(lookup, secret))).toEqual({ lookup, secret });
  }));
});

test.each([
  ["nothing", ""],
  ["another prefix", GOOD.replace("opsk_", "opsx_")],
  ["a missing separator", `opsk_${"a".repeat(12)}-${"b".repeat(32)}`],
  ["a short secret", GOOD.slice(0, -1)],
  ["a long secret", `${GOOD}b`],
  ["a trailing newline", `${GOOD}\n`],
  ["a leading space", ` ${GOOD}`],
  ["a character outside the alphabet", GOOD.replace(/b$/, "=")],
  ["an upper-case prefix", GOOD.replace("opsk", "OPSK")],
])("a key with %s is invalid", (_case, text) => expect(parseApiKey(text)).toBeNull());

test("formatApiKey rejects an invalid part", () => {
  expect(() => formatApiKey("a".repeat(11), "b".repeat(32))).toThrow(RangeError);
  expect(() => formatApiKey("a".repeat(12), "b".repeat(33))).toThrow(RangeError);
});
