import { expect, test } from "vitest";
import { addMs, toRfc3339 } from "../../src/lib/text/instant.ts";

test("addMs adds or subtracts milliseconds and does not change its argument", () => {
  const noon = new Date("2026-11-21T12:00:00.000Z");
  expect(toRfc3339(addMs(noon, 1))).toBe("2026-11-21T12:00:00.001Z");
  expect(toRfc3339(addMs(noon, -1))).toBe("2026-11-21T11:59:59.999Z");
  expect(toRfc3339(noon)).toBe("2026-11-21T12:00:00.000Z");
});

test("an invalid time is rejected", () => {
  expect(() => addMs(new Date(0), NaN)).toThrow(RangeError);
  expect(() => addMs(new Date(8.64e15), 1)).toThrow(RangeError);
  expect(() => toRfc3339(new Date(NaN))).toThrow(RangeError);
});

test("toRfc3339 rejects years after 9999", () => {
  expect(toRfc3339(new Date("9999-12-31T23:59:59.999Z"))).toBe("9999-12-31T23:59:59.999Z");
  expect(() => toRfc3339(new Date(Date.UTC(10_000, 0)))).toThrow(RangeError);
});
