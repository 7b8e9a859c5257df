import fc from "fast-check";
import { expect, test } from "vitest";
import { claimCodeFromBytes, formatClaimCode, parseClaimCode } from "../../src/lib/ids/claim-code.ts";

test("each value of a byte's low five bits gives a different character", () => {
  const seen = new Set(Array.from({ length: 32 }, (_, value) => claimCodeFromBytes(new Uint8Array(6).fill(value))));
  expect(seen.size).toBe(32);
  expect([...seen].join("")).not.toMatch(/[OILU]/);
});

test("the high three bits of a byte change nothing, so all characters are equally likely", () => {
  fc.assert(fc.property(fc.uint8Array({ minLength: 6, maxLength: 12 }), (bytes) => {
    expect(claimCodeFromBytes(bytes.map((byte) => byte | 0xe0))).toBe(claimCodeFromBytes(bytes));
  }));
});

test("a claim code cannot be made from only five random bytes", () => {
  expect(() => claimCodeFromBytes(new Uint8Array(5))).toThrow(RangeError);
});

test("a code is parsed with a hyphen, in lower case and with extra spaces", () => {
  fc.assert(fc.property(fc.uint8Array({ minLength: 6, maxLength: 6 }), (bytes) => {
    const code = claimCodeFromBytes(bytes);
    expect(parseClaimCode(formatClaimCode(code))).toBe(code);
    expect(parseClaimCode(` ${formatClaimCode(code).toLowerCase()}\t\n`)).toBe(code);
    expect(parseClaimCode([...code].join(" - "))).toBe(code);
  }));
});

test.each(["", "ABCDE", "ABCDEFG", "ABCDEO", "ABCDEI", "ABCDEL", "ABCDEU", "ABCDE!", "ABCDÉF", "ABC_DEF", "٠١٢٣٤٥"])(
  "%j is not a claim code, and no letter is mapped to a digit",
  (input) => expect(parseClaimCode(input)).toBeNull(),
);
