// Tests which addresses are public, in every spelling that a URL accepts (docs/reliability.md, S-25 and S-47).
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatIp, inCidr, parseCidr, parseIp } from "../../src/lib/net/ip-address.ts";
import {
  isLiterallyPrivate,
  isPublicAddress,
  isPublicIp,
  mayBeFetched,
  readRanges,
} from "../../src/lib/net/public-address.ts";
import { SPECIAL_RANGES, spellings } from "../security/special-addresses.ts";

describe("S-25: no address of a special-purpose range is public", () => {
  test.each(SPECIAL_RANGES)("neither the first, the last nor a random address of %s is public", (range) => {
    const cidr = parseCidr(range)!;
    const size = 1n << BigInt((cidr.family === 4 ? 32 : 128) - cidr.prefix);
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: size - 1n }), (offset) => {
        const ip = { family: cidr.family, value: cidr.network + offset };
        expect(inCidr(ip, cidr)).toBe(true);
        expect([formatIp(ip), isPublicIp(ip)]).toEqual([formatIp(ip), false]);
      }),
      { examples: [[0n], [size - 1n]], numRuns: 50 },
    );
  });

  test.each(SPECIAL_RANGES.map((range) => range.split("/")[0]!))("%s is rejected in every spelling", (address) => {
    for (const url of spellings(address)) {
      expect([url, isLiterallyPrivate(new URL(url), [])]).toEqual([url, true]);
    }
  });
});

test.each([
  ...["1.1.1.1", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.1"],
  ...["192.0.1.0", "192.169.0.1", "198.17.255.255", "198.20.0.0", "223.255.255.255", "::ffff:1.1.1.1"],
  ...["2001:200::1", "2606:4700::1111", "2a00:1450::1", "3ffe::1", "64:ff9b::1.1.1.1"],
])("%s is public", (address) => expect(isPublicAddress(address)).toBe(true));

test.each(["", "x", "1.1.1", "01.1.1.1", "fe80::1%eth0", "1.1.1.1%lo"])(
  "%j is not an address, so it is not public",
  (text) => {
    expect([isPublicAddress(text), mayBeFetched(text, readRanges(["0.0.0.0/0", "::/0"]))]).toEqual([false, false]);
  },
);

test("a range that the operator allows permits its addresses, including their IPv4-mapped form, and no other addresses", () => {
  const allowed = readRanges(["10.1.0.0/16", "fd00::/8", "no range", 7]);
  expect(["10.1.2.3", "::ffff:10.1.2.3", "fd12::1"].map((each) => mayBeFetched(each, allowed))).toEqual([
    true,
    true,
    true,
  ]);
  expect(["10.2.0.1", "::10.1.2.3", "64:ff9b::10.1.2.3", "fe80::1"].map((each) => mayBeFetched(each, allowed)))
    .toEqual([false, false, false, false]);
});

test.each(["localhost", "LOCALHOST", "localhost.", "a.localhost", "%6cocalhost"])(
  "the host name %s is rejected without resolution, because it means this machine",
  (host) => {
    expect(isLiterallyPrivate(new URL(`http://${host}/`), [])).toBe(true);
    expect(isLiterallyPrivate(new URL(`http://${host}/`), readRanges(["127.0.0.0/8"]))).toBe(false);
  },
);

test.each(["example.com", "127.0.0.1.example.com", "localhost.example.com"])(
  "the host name %s is not rejected before it is resolved",
  (host) => {
    expect(isLiterallyPrivate(new URL(`http://${host}/`), [])).toBe(false);
  },
);

test("parseIp accepts the text to which URL normalizes each spelling", () => {
  for (const url of spellings("127.0.0.1")) {
    const { hostname } = new URL(url);
    expect(parseIp(hostname.replace(/^\[|\]$/g, ""))).not.toBeNull();
  }
});
