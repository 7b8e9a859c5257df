import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Cidr } from "../../src/lib/net/ip-address.ts";
import {
  addressesOf,
  blockText,
  containsBlock,
  parseBlock,
  planFor,
  readBlocks,
  storedBlock,
} from "../../src/lib/net/ip-block.ts";

const canonical = (text: string) => {
  const block = parseBlock(text);
  return block && blockText(block);
};
const block = (text: string) => {
  const read = parseBlock(text);
  if (read === null) throw new Error(`${text} is not a block`);
  return read;
};

test.each([
  ["10.0.1.5/24", "10.0.1.0/24"],
  ["10.0.1.5/32", "10.0.1.5/32"],
  ["255.255.255.255/0", "0.0.0.0/0"],
  ["2001:DB8:0:0::1/64", "2001:db8::/64"],
  ["2001:db8::ffff/127", "2001:db8::fffe/127"],
  ["ffff::/0", "::/0"],
  ["::1.2.3.4/120", "::102:300/120"],
])("%s is the network %s", (text, network) => {
  expect(canonical(text)).toBe(network);
});

test.each([
  "10.0.0.0",
  "10.0.0.0/33",
  "10.0.0.0/-1",
  "10.0.0.0/08",
  "010.0.0.0/8",
  "10.0.0/24",
  "10.0.0.0/24/24",
  "::/129",
  "fe80::%eth0/64",
  "",
])("%s is not a network", (text) => {
  expect(parseBlock(text)).toBeNull();
});

test("an IPv4-mapped network belongs to neither family", () => {
  expect(parseBlock("::ffff:10.0.0.0/104")).toBeNull();
  expect(parseBlock("::ffff:10.0.0.0/96")).toBeNull();
});

test("PostgreSQL's dotted form becomes canonical text", () => {
  expect(storedBlock("::1.2.3.0/120")).toBe("::102:300/120");
  expect(storedBlock("10.0.0.0/8")).toBe("10.0.0.0/8");
  expect(storedBlock(null)).toBeNull();
});

const anyBlock = fc.oneof(
  fc.record({ family: fc.constant(4 as const), value: fc.bigInt(0n, 2n ** 32n - 1n), prefix: fc.nat(32) }),
  fc.record({ family: fc.constant(6 as const), value: fc.bigInt(2n ** 112n, 2n ** 128n - 1n), prefix: fc.nat(128) }),
).map(({ family, value, prefix }): Cidr => {
  const hostBits = BigInt((family === 4 ? 32 : 128) - prefix);
  return { family, network: (value >> hostBits) << hostBits, prefix };
});

test("the canonical text of a network is parsed to the same network", () => {
  fc.assert(fc.property(anyBlock, (each) => {
    expect(parseBlock(blockText(each))).toEqual(each);
  }));
});

test("a block contains another block exactly when it contains the first and the last address of the other block", () => {
  const last = (each: Cidr) => each.network + addressesOf(each) - 1n;
  fc.assert(fc.property(anyBlock, anyBlock, fc.nat(128), (outer, other, cut) => {
    // In half of the cases the inner block is a part of the outer block, because two random blocks rarely overlap.
    const inner = cut > 64 ? other : { ...outer, prefix: Math.min(outer.prefix + cut, outer.family === 4 ? 32 : 128) };
    const expected = outer.family === inner.family && inner.network >= outer.network && last(inner) <= last(outer);
    expect(containsBlock(outer, inner)).toBe(expected);
  }));
});

test("a block contains its half, but neither an adjacent block, a larger block nor a block of the other family", () => {
  expect(containsBlock(block("10.0.0.0/25"), block("10.0.0.128/25"))).toBe(false);
  expect(containsBlock(block("10.0.0.0/24"), block("10.0.0.128/25"))).toBe(true);
  expect(containsBlock(block("10.0.0.128/25"), block("10.0.0.0/24"))).toBe(false);
  expect(containsBlock(block("::/0"), block("0.0.0.0/0"))).toBe(false);
});

describe("the blocks of a body", () => {
  test("are parsed with the host bits cleared; one of the blocks may be null", () => {
    expect(readBlocks({ ipv4_block: "10.1.2.3/16", ipv6_block: null }, "vpc")).toMatchObject({
      text: { ipv4_block: "10.1.0.0/16", ipv6_block: null },
    });
  });

  test.each(["vpc", "subnet"] as const)("of a %s are refused if both are missing", (of) => {
    expect(readBlocks({}, of)).toMatchObject({
      kind: "bad_request",
      message: `${of} must specify ipv4_block, ipv6_block, or both`,
    });
  });

  test("must be of their field's family", () => {
    expect(readBlocks({ ipv4_block: "fd00::/8" }, "vpc")).toMatchObject({ kind: "bad_request" });
    expect(readBlocks({ ipv6_block: "10.0.0.0/8" }, "vpc")).toMatchObject({ kind: "bad_request" });
    expect(readBlocks({ ipv6_block: "::ffff:10.0.0.0/104" }, "vpc")).toMatchObject({ kind: "bad_request" });
  });
});

test("planFor returns a conflict that names the field if the VPC has no block of the family", () => {
  const plan = { ipv4_block: "10.0.0.0/8", ipv6_block: null };
  expect(planFor(block("192.0.2.0/24"), plan)).toEqual(block("10.0.0.0/8"));
  expect(planFor(block("fd00::/64"), plan)).toMatchObject({
    kind: "conflict",
    message: "fd00::/64 is IPv6, and the vpc has no ipv6_block",
  });
});
