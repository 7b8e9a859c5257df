import fc from "fast-check";
import { expect, test } from "vitest";
import { formatIp } from "../../src/lib/net/ip-address.ts";
import { type Ipv4RangeFields, parseIpv4Range } from "../../src/lib/net/ipv4-range.ts";

const GOOD: Ipv4RangeFields = {
  ipv4_block: "10.0.0.0/24",
  provision_start_ipv4: "10.0.0.10",
  provision_end_ipv4: "10.0.0.20",
  gateway: "10.0.0.1",
};
const read = (fields: Partial<Ipv4RangeFields>) => {
  const result = parseIpv4Range({ ...GOOD, ...fields });
  return "error" in result ? result.error : result.range;
};
const text = (value: bigint) => formatIp({ family: 4, value });

test("a range includes both its ends", () => {
  const start = 10n << 24n;
  expect(read({})).toEqual({
    block: "10.0.0.0/24",
    prefix: 24,
    start: start + 10n,
    end: start + 20n,
    gateway: start + 1n,
    count: 11n,
  });
  expect(read({ gateway: null })).toMatchObject({ gateway: null, count: 11n });
});

test("the block's host bits are cleared", () =>
  expect(read({ ipv4_block: "10.0.0.77/24" })).toMatchObject({ block: "10.0.0.0/24" }));

test("a gateway inside the range reduces the count by one", () => {
  expect(read({ gateway: "10.0.0.10" })).toMatchObject({ count: 10n });
  expect(read({ gateway: "10.0.0.20" })).toMatchObject({ count: 10n });
  expect(read({ gateway: "10.0.0.9" })).toMatchObject({ count: 11n });
});

test("a range may extend from the first to the last host of its block", () => {
  expect(read({ provision_start_ipv4: "10.0.0.1", provision_end_ipv4: "10.0.0.254", gateway: null }))
    .toMatchObject({ count: 254n });
  const smallest = { ipv4_block: "10.0.0.0/30", provision_start_ipv4: "10.0.0.1", provision_end_ipv4: "10.0.0.2" };
  expect(read(smallest)).toMatchObject({ count: 1n });
});

const BLOCK = "ipv4_block must be an IPv4 network with a prefix of at most 30, like 10.0.0.0/24";
test.each<[Partial<Ipv4RangeFields>, string]>([
  [{ ipv4_block: "10.0.0.0" }, BLOCK],
  [{ ipv4_block: "10.0.0.0/31" }, BLOCK],
  [{ ipv4_block: "10.0.0/24" }, BLOCK],
  [{ ipv4_block: "::ffff:10.0.0.0/120" }, BLOCK],
  [{ ipv4_block: "2001:db8::/64" }, BLOCK],
  [{ provision_start_ipv4: "10.0.0" }, "provision_start_ipv4 must be an IPv4 address"],
  [{ provision_start_ipv4: "::ffff:10.0.0.10" }, "provision_start_ipv4 must be an IPv4 address"],
  [{ provision_end_ipv4: "10.0.0.010" }, "provision_end_ipv4 must be an IPv4 address"],
  [{ gateway: "" }, "gateway must be an IPv4 address"],
  [{ provision_start_ipv4: "9.255.255.255" }, "provision_start_ipv4 is not inside 10.0.0.0/24"],
  [{ provision_end_ipv4: "10.0.1.0" }, "provision_end_ipv4 is not inside 10.0.0.0/24"],
  [{ gateway: "10.0.1.1" }, "gateway is not inside 10.0.0.0/24"],
  [{ provision_start_ipv4: "10.0.0.0" }, "provision_start_ipv4 is the network address of 10.0.0.0/24"],
  [{ provision_end_ipv4: "10.0.0.255" }, "provision_end_ipv4 is the broadcast address of 10.0.0.0/24"],
  [{ gateway: "10.0.0.255" }, "gateway is the broadcast address of 10.0.0.0/24"],
  [{ provision_start_ipv4: "10.0.0.21" }, "provision_start_ipv4 is above provision_end_ipv4"],
  [
    { provision_start_ipv4: "10.0.0.1", provision_end_ipv4: "10.0.0.1" },
    "provision_start_ipv4 to provision_end_ipv4 contains only the gateway; include another address",
  ],
])("%j is rejected with an error that names the field", (fields, error) => expect(read(fields)).toBe(error));

test("a range is accepted exactly when both ends are hosts of the block and the start is not after the end", () => {
  const prefix = fc.integer({ min: 1, max: 30 });
  const offset = fc.bigInt({ min: -2n, max: 70n });
  fc.assert(fc.property(prefix, offset, offset, (prefix, from, to) => {
    const base = 172n << 24n, hosts = 1n << BigInt(32 - prefix);
    const network = base >> BigInt(32 - prefix) << BigInt(32 - prefix);
    const start = network + from, end = network + to;
    fc.pre(start >= 0n && end < 1n << 32n);
    const result = read({
      ipv4_block: `172.0.0.0/${prefix}`,
      provision_start_ipv4: text(start),
      provision_end_ipv4: text(end),
      gateway: null,
    });
    const good = from >= 1n && to <= hosts - 2n && from <= to;
    expect(typeof result !== "string").toBe(good);
    if (typeof result !== "string") expect(result.count).toBe(to - from + 1n);
  }));
});
