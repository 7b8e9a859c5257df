import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { uuid7 } from "../../src/lib/ids/uuid7.ts";

const ms = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const random = fc.uint8Array({ minLength: 10, maxLength: 10 });

test("uuid7 returns a UUIDv7 that contains the milliseconds", () => {
  fc.assert(fc.property(ms, random, (at, bytes) => {
    const uuid = uuid7(at, bytes);
    expect(z.uuidv7().safeParse(uuid).success).toBe(true);
    expect(Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)).toBe(at);
  }));
});

test("UUIDs sort as text in the order of their times", () => {
  fc.assert(fc.property(ms, ms, random, random, (a, b, one, two) => {
    fc.pre(a < b);
    expect(uuid7(a, one) < uuid7(b, two)).toBe(true);
  }));
});

test("uuid7 does not change its random bytes", () => {
  const bytes = new Uint8Array(10).fill(255);
  expect(uuid7(0, bytes)).toBe("00000000-0000-7fff-bfff-ffffffffffff");
  expect(bytes).toEqual(new Uint8Array(10).fill(255));
});

test("a time that is not a whole number of at most 48 bits, or a wrong number of random bytes, is rejected", () => {
  const ten = new Uint8Array(10);
  for (const at of [-1, 2 ** 48, 0.5, NaN, Infinity]) expect(() => uuid7(at, ten)).toThrow(RangeError);
  expect(uuid7(2 ** 48 - 1, ten)).toMatch(/^ffffffff-ffff-/);
  expect(() => uuid7(0, new Uint8Array(9))).toThrow(RangeError);
  expect(() => uuid7(0, new Uint8Array(11))).toThrow(RangeError);
});
