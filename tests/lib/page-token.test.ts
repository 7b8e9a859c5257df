import fc from "fast-check";
import { expect, test } from "vitest";
import { decodePageToken, encodePageToken } from "../../src/lib/ids/page-token.ts";

const cursor = fc.dictionary(
  fc.constantFrom("name", "id", "é"),
  fc.oneof(fc.string({ unit: "grapheme" }), fc.integer()),
  { noNullPrototype: true },
);

test("a token decodes to its cursor, and contains only URL-safe characters", () => {
  fc.assert(fc.property(cursor, (value) => {
    const token = encodePageToken(value);
    expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(decodePageToken(token)).toEqual(value);
  }));
});

test("decodePageToken returns null for an invalid token and never throws", () => {
  fc.assert(fc.property(fc.string(), (text) => {
    const value = decodePageToken(text);
    if (value !== null) expect(encodePageToken(value)).toBe(text);
  }));
});

test.each([["an array", "[1]"], ["null", "null"], ["a nested value", '{"a":{}}'], ["a boolean", '{"a":true}'], [
  "JSON with spaces",
  '{ "a":1}',
]])(
  "%s is not a cursor",
  (_case, json) => expect(decodePageToken(btoa(json).replace(/=+$/, ""))).toBeNull(),
);
