// Tests NAT gateways whose address is in an external subnet or in a network pool (docs/networking.md).
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { NatGateway } from "../../src/contract/network.ts";
import { ADDRESS_CHECKS } from "../../src/doctor/addresses.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import {
  conflictWith,
  expectRefused,
  makeFloatingIp,
  makeGateway,
  makeNetwork,
  makePool,
  makeVpc,
  notFound,
  operationOf,
  takeBack,
} from "./public-addresses.ts";
import { asWritten } from "./networks.ts";

let t: TestControlPlane;
let a: TestTenant;
let b: TestTenant;
let vpc: string;
let vpc_of_b: string;
beforeAll(async () => {
  t = await openTestControlPlane();
  [a, b] = [await openTenant(t, "a"), await openTenant(t, "b")];
  [vpc, vpc_of_b] = [await makeVpc(a), await makeVpc(b)];
});
afterAll(() => t.close());
afterEach(async () => {
  const broken = await Promise.all(ADDRESS_CHECKS.map(async ({ query }) => (await t.db.query(query)).rows));
  expect(broken.flat()).toEqual([]);
});

const path = (id: string) => `/v1/nat-gateways/${id}`;
const subnetPath = (id: string) => `/v1/system/external-subnets/${id}`;
async function remove(caller: TestTenant, ...gateways: readonly { readonly id: string }[]): Promise<void> {
  for (const { id } of gateways) okOf(await caller.call("DELETE", path(id)));
}
const make = async (fields: object): Promise<NatGateway> => okOf(await makeGateway(a, vpc, fields));

describe("the source of a gateway's address", () => {
  test.each([
    ["network and pool", { network_id: randomUUID(), pool_id: randomUUID() }],
    ["network and pool, with a family", { family: "v4", network_id: randomUUID(), pool_id: randomUUID() }],
  ])("that is named twice (%s) gets 400 BadRequest", async (_which, fields) => {
    const message = "set at most one of network_id and pool_id";
    expectRefused(await makeGateway(a, vpc, fields), 400, "BadRequest", message);
  });

  test("is the fixed pool of IPv4 if all fields are null", async () => {
    const made = await make({ family: null, network_id: null, pool_id: null });
    expect(made).toMatchObject({ family: "v4", public_address: "203.0.113.2", network_id: null });
    await remove(a, made);
  });

  test("that does not exist gets 404, even if the name is invalid", async () => {
    notFound(await makeGateway(a, vpc, { network_id: randomUUID(), name: "a/b" }));
    notFound(await makeGateway(a, vpc, { pool_id: randomUUID() }));
  });

  test("that is not a UUID gets 400", async () => {
    for (const field of ["network_id", "pool_id"]) {
      expect((await makeGateway(a, vpc, { [field]: "uplink" })).status).toBe(400);
    }
  });

  test("that is a subnet of the caller's own tenant gets 400 SubnetNotExternal; a subnet of another tenant gets 404", async () => {
    const body = { name: "inside", ipv4_block: "10.0.1.0/24" };
    const { id } = okOf(await a.call("POST", `/v1/subnets?vpc=${vpc}`, { body }));
    const message = `subnet ${id} is not an external subnet`;
    expectRefused(await makeGateway(a, vpc, { network_id: id }), 400, "SubnetNotExternal", message);
    notFound(await makeGateway(b, vpc_of_b, { network_id: id }));
  });

  test("that belongs to other silos gets 404: a network, and a pool", async () => {
    const network = await makeNetwork(t, { ipv4_block: "198.51.100.0/29", owner_silos: [a.silo_id] });
    const pool_id = await makePool(t, [network.id]);
    const own_pool = await makePool(t, [network.id], { owner_silos: [a.silo_id] });
    const made = [await make({ network_id: network.id }), await make({ pool_id }), await make({ pool_id: own_pool })];
    expect(made.map(({ network_id }) => network_id)).toEqual([network.id, network.id, network.id]);
    notFound(await makeGateway(b, vpc_of_b, { network_id: network.id }));
    notFound(await makeGateway(b, vpc_of_b, { pool_id: own_pool }));
    const message = `network pool ${pool_id} has no free address`;
    expectRefused(await makeGateway(b, vpc_of_b, { pool_id }), 409, "PoolExhausted", message);
    await remove(a, ...made);
  });
});

describe("a gateway with an address of an external subnet", () => {
  test("has the family of the address: IPv4 first. It shows the subnet, and a delete returns the address to the subnet", async () => {
    const network = await makeNetwork(t, { ipv4_block: "198.51.100.8/30", ipv6_block: "2001:db8:e::/126" });
    const four = await make({ name: "four", network_id: network.id.toUpperCase() });
    expect(four).toMatchObject({
      family: "v4",
      public_address: "198.51.100.10",
      network_id: network.id,
      external_nic_tag: network.nic_tag,
    });
    expect(asWritten(okOf(await a.call("GET", path(four.id))))).toEqual(four);
    const operation = await operationOf(t, "nat_gateway_create", four.id);
    expect(operation.params).toMatchObject({ public_address: "198.51.100.10", network_id: network.id });
    const { events } = okOf(await t.call("GET", "/v1/audit/events?limit=1000"));
    const entry = events.find(({ resource }: { resource: string }) => resource === `NatGateway::"${four.id}"`);
    expect(entry.payload).toMatchObject({ network_id: network.id, family: "v4" });
    const six = [await make({ network_id: network.id }), await make({ network_id: network.id })];
    expect(six.map(({ family, public_address }) => [family, public_address])).toEqual([
      ["v6", "2001:db8:e::2"],
      ["v6", "2001:db8:e::3"],
    ]);
    const message = `network ${network.id} has no free address`;
    expectRefused(await makeGateway(a, vpc, { network_id: network.id }), 409, "PoolExhausted", message);
    await remove(a, four);
    const floating = okOf(await makeFloatingIp(b, { network_id: network.id }));
    expect(floating.address).toBe("198.51.100.10");
    okOf(await b.call("DELETE", `/v1/floating-ips/${floating.id}`));
    await remove(a, ...six);
  });

  test("has the family of the request: the IPv6 block of a network with two blocks, and the first network of a pool that has the family", async () => {
    const two = await makeNetwork(t, { ipv4_block: "198.51.100.48/30", ipv6_block: "2001:db8:c::/126" });
    const four = await makeNetwork(t, { ipv4_block: "198.51.100.52/30" });
    const pool_id = await makePool(t, [four.id, two.id]);
    const made = [
      await make({ family: "v6", network_id: two.id }),
      await make({ family: "v6", pool_id }),
      await make({ family: "v4", pool_id }),
      await make({ family: "v4", network_id: two.id }),
    ];
    expect(made.map(({ family, public_address, network_id }) => [family, public_address, network_id])).toEqual([
      ["v6", "2001:db8:c::2", two.id],
      ["v6", "2001:db8:c::3", two.id],
      ["v4", "198.51.100.54", four.id],
      ["v4", "198.51.100.50", two.id],
    ]);
    const used = await makeGateway(a, vpc, { family: "v6", network_id: two.id });
    expectRefused(used, 409, "PoolExhausted", `network ${two.id} has no free v6 address`);
    const gone = await makeGateway(a, vpc, { family: "v6", pool_id });
    expectRefused(gone, 409, "PoolExhausted", `network pool ${pool_id} has no free v6 address`);
    await remove(a, ...made);
    const none = await makeGateway(a, vpc, { family: "v6", network_id: four.id });
    expectRefused(none, 400, "BadRequest", `network ${four.id} has no v6 block`);
    notFound(await makeGateway(a, vpc, { family: "v6", network_id: randomUUID() }));
  });

  test("comes from the first network of the pool that has a free address", async () => {
    const one = await makeNetwork(t, { ipv4_block: "198.51.100.12/30" });
    const two = await makeNetwork(t, { ipv4_block: "198.51.100.16/30" });
    const pool_id = await makePool(t, [two.id, one.id]);
    const made = [await make({ pool_id }), await make({ pool_id })];
    expect(made.map(({ public_address, network_id }) => [public_address, network_id])).toEqual([
      ["198.51.100.18", two.id],
      ["198.51.100.14", one.id],
    ]);
    const message = `network pool ${pool_id} has no free address`;
    expectRefused(await makeGateway(a, vpc, { pool_id }), 409, "PoolExhausted", message);
    await remove(a, ...made);
  });

  test("keeps the rules of names and of VPCs, and a refused create allocates no address", async () => {
    const { id: network_id } = await makeNetwork(t, { ipv4_block: "198.51.100.20/30" });
    conflictWith(await makeGateway(a, vpc, { name: "a/b", network_id }), "name must not contain / or \\");
    notFound(await makeGateway(b, vpc, { network_id }));
    const first = await make({ name: "taken" });
    const taken = "a nat gateway named taken already exists in this VPC";
    conflictWith(await makeGateway(a, vpc, { name: "taken", network_id }), taken);
    const made = await make({ network_id });
    await remove(a, first, made);
  });

  test("is deleted by a rollback of its creation, which returns the address to the subnet", async () => {
    const { id: network_id } = await makeNetwork(t, { ipv4_block: "198.51.100.24/30" });
    const made = await make({ network_id });
    const operation = await operationOf(t, "nat_gateway_create", made.id);
    expect((await takeBack(t, operation)).state).toBe("unwound");
    notFound(await a.call("GET", path(made.id)));
    const next = await make({ network_id });
    expect(next.public_address).toBe(made.public_address);
    await remove(a, next);
  });

  test("on the block of a fixed pool takes its address from the pool, within the range of the subnet", async () => {
    const network = await makeNetwork(t, { ipv4_block: "203.0.113.0/24", provision_start_ipv4: "203.0.113.100" });
    const [own, fixed] = [await make({ network_id: network.id }), await make({})];
    expect([own.public_address, own.network_id]).toEqual(["203.0.113.100", network.id]);
    expect([fixed.public_address, fixed.network_id]).toEqual(["203.0.113.2", null]);
    expect((await t.call("DELETE", subnetPath(network.id))).status).toBe(409);
    await remove(a, own);
    okOf(await t.call("DELETE", subnetPath(network.id)));
    await remove(a, fixed);
  });

  test("keeps the subnet from being deleted: the API returns 409 with the gateways and floating IPs, and the database refuses a delete", async () => {
    const network = await makeNetwork(t, { ipv4_block: "198.51.100.32/29" });
    const gateway = await make({ network_id: network.id });
    const floating = okOf(await makeFloatingIp(a, { network_id: network.id }));
    const still = (what: string) =>
      `external subnet ${network.id} is still used by ${what}, which must be deleted first`;
    const both = `floating ip ${floating.id} and nat gateway ${gateway.id}`;
    conflictWith(await t.call("DELETE", subnetPath(network.id)), still(both));
    okOf(await a.call("DELETE", `/v1/floating-ips/${floating.id}`));
    conflictWith(await t.call("DELETE", subnetPath(network.id)), still(`nat gateway ${gateway.id}`));
    const direct = t.db.query("delete from external_subnet where id = $1", [network.id]);
    await expect(direct).rejects.toThrow("nat_gateway_network");
    const pool = t.db.query("delete from pool where id = $1", [`external:${network.id}:v4`]);
    await expect(pool).rejects.toThrow("nat_gateway_pool");
    await remove(a, gateway);
    expect((await t.call("DELETE", subnetPath(network.id))).status).toBe(204);
  });
});

test("if a process of an earlier release returns an address of a subnet to the fixed pool, the address goes to the pool of the subnet", async () => {
  const { id: network_id } = await makeNetwork(t, { ipv4_block: "198.51.100.40/29", ipv6_block: "2001:db8:f::/64" });
  // The address is in use.
  const take = "update pool_range set low = low + 1 where pool_id = $1";
  await t.db.query(take, [`external:${network_id}:v4`]);
  await t.db.query("select berth_release('public:v4', '198.51.100.42')");
  const { rows } = await t.db.query("select low::int, high::int from pool_range where pool_id = $1", [
    `external:${network_id}:v4`,
  ]);
  expect(rows).toEqual([{ low: 0, high: 4 }]);
  // No external subnet has this address, as after the deletion of its subnet.
  await t.db.query("select berth_release('public:v4', '192.0.2.9')");
});
