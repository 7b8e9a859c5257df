// Tests racks behind DHCP relays. The relay of a request selects the network of the machine (docs/booting.md, "Racks
// behind relays").
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { expectInvariants } from "../setup/invariants.ts";
import { newMac, POLICY } from "../setup/machine.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());
afterEach(() => expectInvariants(t.db));

/** Returns a rack with the network 10.40.<third>.0/24. */
function rack(third: number, changes: Record<string, unknown> = {}) {
  const at = (last: number) => `10.40.${third}.${last}`;
  return {
    name: `rack-${third}`,
    ipv4_block: `${at(0)}/24`,
    provision_start_ipv4: at(10),
    provision_end_ipv4: at(11),
    gateway: at(1),
    resolvers: [at(2)],
    relays: [],
    ...changes,
  };
}
const put = (rack_networks: unknown[], changes: Record<string, unknown> = {}) =>
  t.call("PUT", "/v2/cn-boot-policy", { body: { ...POLICY, ...changes, rack_networks } });
const seenBy = (relay: string | null, mac = newMac()) =>
  t.call("POST", "/v2/booter/seen", { body: { mac, client: { arch: 7, relay } } });

describe("with two racks", () => {
  beforeEach(async () => {
    await t.db.query("delete from boot_record");
    okOf(await put([rack(1), rack(2, { relays: ["10.99.0.3"] })]));
  });

  test("a machine gets the address, prefix, gateway and resolvers from the network of its relay", async () => {
    const { address, networking } = okOf(await seenBy("10.40.1.1"));
    expect(address).toBe("10.40.1.10");
    expect(networking).toMatchObject({ prefix_len: 24, gateway: "10.40.1.1", resolvers: ["10.40.1.2"] });
    expect(okOf(await seenBy("10.99.0.3")).address).toBe("10.40.2.10");
  });

  test.each([["no relay", null], ["a relay that belongs to no rack", "10.20.0.3"]])(
    "a machine with %s gets an address of the admin network",
    async (_what, relay) => {
      const { address, networking } = okOf(await seenBy(relay));
      expect(address).toBe("10.20.0.10");
      expect(networking.prefix_len).toBe(16);
    },
  );

  test("a machine in a rack without a free address gets no address of another rack", async () => {
    for (const last of [10, 11]) expect(okOf(await seenBy("10.40.1.1")).address).toBe(`10.40.1.${last}`);
    expect(okOf(await seenBy("10.40.1.1"))).toMatchObject({ state: "discovered", address: null });
    expect(okOf(await seenBy("10.40.2.1")).address).toBe("10.40.2.10");
  });

  test("if an operator authorizes a machine, the relay of the machine's last request selects the network", async () => {
    const mac = newMac();
    okOf(await put([rack(1)], { auto_enroll: false }));
    expect(okOf(await seenBy("10.40.1.1", mac)).state).toBe("discovered");
    expect(okOf(await t.call("POST", `/v2/cn-boot/${mac}/authorize`)).address).toBe("10.40.1.10");
  });

  test("records keep their addresses when their rack is removed, and the rack can be added again", async () => {
    const mac = newMac();
    const { address } = okOf(await seenBy("10.40.1.1", mac));
    okOf(await put([]));
    expect(okOf(await seenBy(null)).address).toBe("10.20.0.10");
    okOf(await put([rack(1)]));
    expect(okOf(await seenBy("10.40.1.1", mac)).address).toBe(address);
    expect(okOf(await seenBy("10.40.1.1")).address).toBe("10.40.1.11");
  });
});

test("racks work without an admin network", async () => {
  await t.db.query("delete from boot_record");
  okOf(await put([rack(3)], { admin_network: null }));
  expect(okOf(await seenBy("10.40.3.1")).address).toBe("10.40.3.10");
  expect(okOf(await seenBy(null))).toMatchObject({ state: "discovered", address: null });
});

test.each([
  [[rack(1), rack(1, { name: "b" })], "rack_networks[1].ipv4_block overlaps rack_networks[0].ipv4_block"],
  [[rack(1, { ipv4_block: "10.0.0.0/8" })], "rack_networks[0].ipv4_block overlaps admin_network.ipv4_block"],
  [[rack(1), rack(2, { name: "rack-1" })], "rack_networks[1].name: another rack has the name rack-1"],
  [
    [rack(1, { relays: ["10.99.0.3"] }), rack(2, { relays: ["10.99.0.3"] })],
    "rack_networks[1].relays: another rack has the relay 10.99.0.3",
  ],
  [[rack(1, { gateway: "10.40.2.1" })], "rack_networks[0].gateway is not inside 10.40.1.0/24"],
])(
  "a policy with invalid racks is refused, and nothing is written (case %#)",
  async (racks, message) => {
    const before = (await t.call("GET", "/v2/cn-boot-policy")).headers.get("etag");
    const refused = await put(racks);
    expect([refused.status, refused.body.message]).toEqual([400, message]);
    expect((await t.call("GET", "/v2/cn-boot-policy")).headers.get("etag")).toBe(before);
  },
);
