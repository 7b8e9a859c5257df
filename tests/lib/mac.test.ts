import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalMac, isMulticastMac } from "../../src/lib/net/mac.ts";

const octets = fc.uint8Array({ minLength: 6, maxLength: 6 }).map((bytes) =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"))
);

test.each([
  "00:1A:2b:3C:4d:5E",
  "00-1a-2b-3c-4d-5e",
  "001a.2b3c.4d5e",
  "00 1a 2b 3c 4d 5e",
  "001a2b3c4d5e",
  "001A2B-3C4D5E",
])("%j is 00:1a:2b:3c:4d:5e", (text) => expect(canonicalMac(text)).toBe("00:1a:2b:3c:4d:5e"));

test.each([
  "",
  "00:1a:2b:3c:4d",
  "00:1a:2b:3c:4d:5e:6f",
  "0:1a:2b:3c:4d:5e",
  "00:1a:2b:3c:4d:5g",
  "00::1a2b3c4d5e",
  ":001a2b3c4d5e",
  "001a2b3c4d5e ",
  "00_1a_2b_3c_4d_5e",
  "00/1a/2b/3c/4d/5e",
  "００1a2b3c4d5e",
  "001a2b3c4d5e\n",
])("%j is not a MAC", (text) => expect(canonicalMac(text)).toBeNull());

test("every spelling of an address, including the canonical spelling, has the same canonical form", () => {
  fc.assert(fc.property(octets, fc.constantFrom(":", "-", ".", " ", ""), fc.boolean(), (parts, separator, upper) => {
    const text = parts.join(separator);
    const canonical = canonicalMac(upper ? text.toUpperCase() : text);
    expect(canonical).toBe(parts.join(":"));
    expect(canonicalMac(canonical!)).toBe(canonical);
  }));
});

test("an accepted text has exactly twelve hex digits", () => {
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom(..."0aF:-. gG"), maxLength: 24 }), (text) => {
    if (canonicalMac(text) !== null) expect(text.replace(/[:\-. ]/g, "")).toMatch(/^[0-9a-fA-F]{12}$/);
  }));
});

test("the lowest bit of the first octet marks a group address", () => {
  expect(isMulticastMac("01:00:5e:00:00:01")).toBe(true);
  expect(isMulticastMac("ff:ff:ff:ff:ff:ff")).toBe(true);
  expect(isMulticastMac("02:00:00:00:00:01")).toBe(false);
  expect(isMulticastMac("fe:ff:ff:ff:ff:ff")).toBe(false);
});
