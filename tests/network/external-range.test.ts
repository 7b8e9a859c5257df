// Tests how the provision range of a block is computed.
import { describe, expect, test } from "vitest";
import { parseProvisionRange, type ProvisionFields } from "../../src/lib/net/provision-range.ts";

const v4 = (fields: Partial<ProvisionFields>) =>
  parseProvisionRange("v4", { block: "198.51.100.0/24", start: null, end: null, gateway: null, ...fields });
const v6 = (fields: Partial<ProvisionFields>) =>
  parseProvisionRange("v6", { block: "2001:db8:1::/64", start: null, end: null, gateway: null, ...fields });

describe("IPv4", () => {
  test("without a given range, the range has all addresses except network, gateway and broadcast address", () => {
    expect(v4({})).toEqual({
      range: {
        block: "198.51.100.0/24",
        start: "198.51.100.2",
        end: "198.51.100.254",
        gateway: "198.51.100.1",
        offset: 2,
        count: 253,
      },
    });
  });

  test("host bits of the block are dropped", () => {
    expect(v4({ block: "198.51.100.9/29" })).toMatchObject({ range: { block: "198.51.100.8/29", count: 5 } });
  });

  test("if a requested range begins at the gateway, the computed range begins after the gateway", () => {
    expect(v4({ start: "198.51.100.1", end: "198.51.100.2" })).toMatchObject({
      range: { start: "198.51.100.2", end: "198.51.100.2", offset: 2, count: 1 },
    });
  });

  test("the longest prefix with room for a host is /30", () => {
    expect(v4({ block: "198.51.100.4/30" })).toMatchObject({ range: { start: "198.51.100.6", count: 1 } });
    expect(v4({ block: "198.51.100.4/31" })).toEqual({
      error: "ipv4_block must be an IPv4 network with a prefix of at most 30, like 198.51.100.0/24",
    });
  });

  test.each([
    [{ start: "198.51.101.2" }, "provision_start_ipv4 is not inside 198.51.100.0/24"],
    [{ start: "2001:db8::2" }, "provision_start_ipv4 must be an IPv4 address"],
    [{ start: "198.51.100.0" }, "provision_start_ipv4 is the network address of 198.51.100.0/24"],
    [{ end: "198.51.100.255" }, "provision_end_ipv4 is the broadcast address of 198.51.100.0/24"],
    [{ end: "198.51.99.255" }, "provision_end_ipv4 is not inside 198.51.100.0/24"],
    [{ start: "198.51.100.9", end: "198.51.100.8" }, "provision_start_ipv4 is above provision_end_ipv4"],
    [
      { start: "198.51.100.1", end: "198.51.100.1" },
      "provision_start_ipv4 to provision_end_ipv4 contains only the gateway; include another address",
    ],
  ])("%j is refused with the reason", (fields, error) => {
    expect(v4(fields)).toEqual({ error });
  });
});

describe("the gateway", () => {
  test("may be any host outside the range", () => {
    expect(v4({ gateway: "198.51.100.254", end: "198.51.100.253" })).toMatchObject({
      range: { start: "198.51.100.2", end: "198.51.100.253", gateway: "198.51.100.254" },
    });
  });

  test.each([
    ["198.51.100.2", "gateway_ipv4 is between provision_start_ipv4 and provision_end_ipv4"],
    ["198.51.101.1", "gateway_ipv4 is not inside 198.51.100.0/24"],
    ["198.51.100.0", "gateway_ipv4 is the network address of 198.51.100.0/24"],
  ])("%s is refused with the reason", (gateway, error) => {
    expect(v4({ gateway })).toEqual({ error });
  });
});

describe("IPv6", () => {
  test("without a given range, the range has all addresses except network address and gateway, so it includes the block's last address", () => {
    expect(v6({ block: "2001:db8:1::/124" })).toEqual({
      range: {
        block: "2001:db8:1::/124",
        start: "2001:db8:1::2",
        end: "2001:db8:1::f",
        gateway: "2001:db8:1::1",
        offset: 2,
        count: 14,
      },
    });
  });

  test("an offset or a count above the greatest safe integer is replaced by that integer", () => {
    expect(v6({})).toMatchObject({
      range: { end: "2001:db8:1:0:ffff:ffff:ffff:ffff", count: Number.MAX_SAFE_INTEGER },
    });
    expect(v6({ start: "2001:db8:1:0:ffff::" })).toMatchObject({ range: { offset: Number.MAX_SAFE_INTEGER } });
    expect(v6({ start: "2001:db8:1:0:ffff::", end: "2001:db8:1:0:ffff::7" })).toMatchObject({ range: { count: 8 } });
  });

  test.each([
    [{ block: "198.51.100.0/24" }, "ipv6_block must be an IPv6 network with a prefix of at most 126"],
    [{ block: "::ffff:198.51.100.0/120" }, "ipv6_block must be an IPv6 network with a prefix of at most 126"],
    [{ block: "2001:db8:1::/127" }, "ipv6_block must be an IPv6 network with a prefix of at most 126"],
    [{ start: "2001:db8:1::" }, "provision_start_ipv6 is the network address of 2001:db8:1::/64"],
    [{ end: "2001:db8:2::5" }, "provision_end_ipv6 is not inside 2001:db8:1::/64"],
    [{ end: "198.51.100.4" }, "provision_end_ipv6 must be an IPv6 address"],
  ])("%j is refused with the reason", (fields, error) => {
    expect(v6(fields)).toEqual({ error: expect.stringContaining(error) });
  });
});
