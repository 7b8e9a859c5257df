import { isIPv4, isIPv6 } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { formatIp, inCidr, parseCidr, parseIp } from "../../src/lib/net/ip-address.ts";

const canonical = (text: string) => {
  const ip = parseIp(text);
  return ip && formatIp(ip);
};

test.each([
  "010.0.0.1",
  "1.2.3",
  "1.2.3.4.5",
  "0x7f.0.0.1",
  "256.0.0.1",
  "1.2.3.4 ",
  " 1.2.3.4",
  "1.2.3.-4",
  "1..3.4",
  "",
  "localhost",
  "1.2.3.4:80",
  ":",
  ":::",
  "1::2::3",
  "1:2:3:4:5:6:7",
  "1:2:3:4:5:6:7:8:9",
  "1:2:3:4:5:6:7::8:9",
  "12345::",
  "g::",
  "fe80::1%eth0",
  "[::1]",
  "::1.2.3",
  "1.2.3.4::",
  "::1.2.3.4:5",
  "1:2:3:4:5:6:7:1.2.3.4",
  "٣.2.3.4",
])("%j is not an address", (text) => expect(parseIp(text)).toBeNull());

test.each([
  ["0.0.0.0", "0.0.0.0"],
  ["255.255.255.255", "255.255.255.255"],
  ["::", "::"],
  ["0:0:0:0:0:0:0:1", "::1"],
  ["2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
  ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
  ["1:0:0:2:0:0:0:3", "1:0:0:2::3"],
  ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::FFFF:c000:0201", "192.0.2.1"],
  ["64:ff9b::192.0.2.33", "64:ff9b::c000:221"],
  ["::192.0.2.1", "::c000:201"],
])("%s is written %s", (text, expected) => expect(canonical(text)).toBe(expected));

test("parseIp accepts what Node.js accepts, except zones, and parses its own canonical text to the same address", () => {
  fc.assert(fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string({ maxLength: 12 })), (text) => {
    fc.pre(!text.includes("%"));
    const ip = parseIp(text);
    expect(ip !== null).toBe(isIPv4(text) || isIPv6(text));
    if (ip) expect(parseIp(formatIp(ip))).toEqual(ip);
  }));
});

test("a network contains the addresses of its family that begin with its prefix, and no other addresses", () => {
  const inside = (address: string, cidr: string) => inCidr(parseIp(address)!, parseCidr(cidr)!);
  expect(inside("10.255.255.255", "10.0.0.0/8")).toBe(true);
  expect(inside("11.0.0.0", "10.0.0.0/8")).toBe(false);
  expect(inside("10.1.2.3", "10.9.9.9/8")).toBe(true);
  expect(inside("1.2.3.4", "0.0.0.0/0")).toBe(true);
  expect(inside("1.2.3.4", "::/0")).toBe(false);
  expect(inside("::ffff:10.0.0.1", "::ffff:10.0.0.0/104")).toBe(true);
  expect(inside("11.0.0.1", "::ffff:10.0.0.0/104")).toBe(false);
  expect(inside("2001:db8:ffff::1", "2001:db8::/32")).toBe(true);
  expect(inside("2001:db9::", "2001:db8::/32")).toBe(false);
  expect(inside("10.0.0.1", "10.0.0.1")).toBe(true);
  expect(inside("10.0.0.2", "10.0.0.1")).toBe(false);
});

test.each([
  "10.0.0.0/33",
  "10.0.0.0/",
  "10.0.0.0/08",
  "10.0.0.0/-1",
  "::/129",
  "10.0.0/8",
  "10.0.0.0/8/8",
  "::ffff:1.2.3.4/95",
  "x/8",
])(
  "%s is not a network",
  (text) => expect(parseCidr(text)).toBeNull(),
);
