// Tests which address counts as the client's address, and which addresses share a rate limit.
import fc from "fast-check";
import { expect, test } from "vitest";
import { addressBucket, clientAddress, isLoopback } from "../../src/lib/net/client-address.ts";
import { parseCidr } from "../../src/lib/net/ip-address.ts";

const trusted = [parseCidr("10.0.0.0/8")!, parseCidr("2001:db8:ffff::/48")!];
const of = (peer: string | undefined, forwardedFor?: string) => clientAddress({ peer, forwardedFor, trusted });

test("for a caller that is not our proxy, the client address is the address of the connection, whatever X-Forwarded-For contains", () => {
  const claim = fc.oneof(fc.string(), fc.ipV4(), fc.array(fc.ipV4()).map((hops) => hops.join(", ")));
  fc.assert(fc.property(claim, (forwardedFor) => {
    expect(of("192.0.2.7", forwardedFor)).toBe("192.0.2.7");
  }));
});

test("S-35: behind our proxies, the client address is the rightmost address that is not ours, whatever is to the left of it", () => {
  fc.assert(fc.property(fc.string(), (claim) => {
    expect(of("10.0.0.1", `${claim}, 198.51.100.9`)).toBe("198.51.100.9");
    expect(of("10.0.0.1", `${claim},198.51.100.9, 10.2.3.4 ,2001:db8:ffff::5`)).toBe("198.51.100.9");
  }));
});

test.each([
  ["no header", undefined, "10.0.0.1"],
  ["an empty header", "", "10.0.0.1"],
  ["only our proxies", "10.9.9.9", "10.9.9.9"],
  ["a malformed hop", "198.51.100.9, unknown", "10.0.0.1"],
  ["a malformed hop left of a trusted proxy", "198.51.100.9, 010.0.0.1, 10.2.2.2", "10.2.2.2"],
  ["a hop with a port", "198.51.100.9:443", "10.0.0.1"],
  ["a hop in brackets", "[2001:db8::1]", "10.0.0.1"],
  ["an IPv6 hop", "2001:DB8:0:0::1", "2001:db8::1"],
  ["a mapped hop", "::ffff:198.51.100.9", "198.51.100.9"],
])(
  "with %s, a request from a trusted proxy has the expected client address",
  (_case, forwardedFor, expected) => expect(of("10.0.0.1", forwardedFor)).toBe(expected),
);

test("a peer's address is canonical: IPv4-mapped becomes IPv4, the zone is removed, and an unreadable address becomes unknown", () => {
  expect(of("::ffff:10.0.0.1", "198.51.100.9")).toBe("198.51.100.9");
  expect(of("::ffff:192.0.2.1")).toBe("192.0.2.1");
  expect(of("fe80::1%eth0")).toBe("fe80::1");
  expect(of(undefined, "198.51.100.9")).toBe("unknown");
  expect(of("a.sock")).toBe("unknown");
});

test("S-35: an IPv4 address is its own bucket, and IPv6 addresses share the bucket of their /64", () => {
  expect(addressBucket("192.0.2.1")).toBe("192.0.2.1");
  expect(addressBucket("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2::/64");
  expect(addressBucket("2001:db8:1:2:ffff::1")).toBe("2001:db8:1:2::/64");
  expect(addressBucket("2001:db8:1:3::1")).toBe("2001:db8:1:3::/64");
  expect(addressBucket("::ffff:192.0.2.1")).toBe("192.0.2.1");
  expect(addressBucket("unknown")).toBe("unknown");
});

test("loopback addresses are 127.0.0.0/8 and ::1; an unknown address is not loopback", () => {
  for (const address of ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1"]) {
    expect(isLoopback(address)).toBe(true);
  }
  for (const address of ["128.0.0.1", "::2", "unknown", "", "localhost"]) expect(isLoopback(address)).toBe(false);
});
