// Tests that the address of a deleted NAT gateway gets no new owner while a node may still run the gateway
// (docs/networking.md, "Where NAT gateways run"). The fence (NAT_GATEWAY_FENCE_S) is the silence of a node after which
// this node certainly runs no gateway.
import { afterAll, beforeAll, expect, test } from "vitest";
import { NAT_GATEWAY_FENCE_S } from "../../src/contract/limits.ts";
import type { NatGateway } from "../../src/contract/network.ts";
import { releaseResting } from "../../src/db/resting-addresses.ts";
import { ADDRESS_CHECKS } from "../../src/doctor/addresses.ts";
import { okOf } from "../support/control-plane.ts";
import { type NetworkFixture, type NetworkNode, openNetworkFixture } from "./network-fixture.ts";

const TAGS = [{ name: "external", physical_nic: "eno2", vlan_id: null, mtu: 1_500, bridge: "br-ext" }];
let f: NetworkFixture;

beforeAll(async () => {
  f = await openNetworkFixture();
  await f.t.call("POST", "/v1/system/nic-tags", { body: { name: "external", mtu: 1_500 } });
  const body = { name: "isp", nic_tag: "external", vlan_id: null, ipv4_block: "203.0.113.0/24" };
  okOf(await f.t.call("POST", "/v1/system/external-subnets", { body }));
});
afterAll(() => f.t.close());

const create = async (fields: object = {}): Promise<NatGateway> =>
  okOf(await f.call("POST", `/v1/nat-gateways?vpc=${f.vpc.id}`, { body: { name: "egress", ...fields } }));
const remove = async ({ id }: NatGateway) => okOf(await f.call("DELETE", `/v1/nat-gateways/${id}`));
const hostOf = async ({ id }: NatGateway) => okOf(await f.call("GET", `/v1/nat-gateways/${id}`)).host_cn_uuid;

/** Creates a gateway that the node runs and has applied. */
async function gatewayOn(node: NetworkNode, fields: object = {}): Promise<NatGateway> {
  for (const each of [f.two, f.idle]) {
    const body = { role: each === node ? "both" : "tenant" };
    okOf(await f.t.call("POST", `/v1/cns/${each.server_uuid}/role`, { body }));
  }
  okOf(await node.call("POST", "/v1/agent/nic-tags", { nic_tags: TAGS }));
  await node.alive();
  const made = await create(fields);
  await expect.poll(() => hostOf(made), { timeout: 5_000, interval: 50 }).toBe(node.server_uuid);
  await f.apply(node);
  return made;
}

/** Lets the background work run, and returns whether a floating IP then gets the address of the gateway. */
async function isFree({ public_address, network_id }: NatGateway): Promise<boolean> {
  await f.t.plane.pass();
  await f.t.plane.pass();
  const broken = await Promise.all(ADDRESS_CHECKS.map(async ({ query }) => (await f.t.db.query(query)).rows));
  expect(broken.flat()).toEqual([]);
  const body = { name: "next", ...(network_id === null ? { family: "v4" } : { network_id }) };
  const { id, address } = okOf(await f.call("POST", `/v1/floating-ips${f.tenant.selectors}`, { body }));
  okOf(await f.call("DELETE", `/v1/floating-ips/${id}`));
  return address === public_address;
}

/** Sets the time of the node's last heartbeat to this many seconds ago. */
const seen = (node: NetworkNode, seconds: number) =>
  f.t.db.query(
    "update cn_signal set last_seen = berth_now() - make_interval(secs => $2) where server_uuid = $1",
    [node.server_uuid, seconds],
  );

test("the address of a gateway that never had a node is free at once", async () => {
  const gateway = await create();
  await remove(gateway);
  expect(await isFree(gateway)).toBe(true);
});

test("the address stays reserved until the node has applied a document without the gateway", async () => {
  const gateway = await gatewayOn(f.two);
  await remove(gateway);
  expect(await isFree(gateway)).toBe(false);
  // The node gets the document, but does not apply it.
  await f.poll(f.two);
  expect(await isFree(gateway)).toBe(false);
  await f.apply(f.two);
  expect(await isFree(gateway)).toBe(true);
});

test("the address of an external subnet returns to the subnet, which cannot be deleted until the node has applied a document without the gateway", async () => {
  const body = { name: "other", nic_tag: "external", vlan_id: 7, ipv4_block: "198.51.100.0/24" };
  const { id: network_id } = okOf(await f.t.call("POST", "/v1/system/external-subnets", { body }));
  const gateway = await gatewayOn(f.two, { network_id });
  expect(gateway).toMatchObject({ public_address: "198.51.100.2", network_id });
  await remove(gateway);
  expect(await isFree(gateway)).toBe(false);
  const path = `/v1/system/external-subnets/${network_id}`;
  expect(await f.t.call("DELETE", path)).toMatchObject({
    status: 409,
    body: {
      message: `node ${f.two.server_uuid} may still answer for 198.51.100.2, which a deleted nat gateway had from ` +
        `external subnet ${network_id}; wait until the node has stopped the gateway`,
    },
  });
  // A process of an earlier release checks only this guard.
  const guard = "select berth_guard('external_subnet_is_unused', jsonb_build_object('id', $1::text)) as verdict";
  const verdict = async () => (await f.t.db.query(guard, [network_id])).rows[0].verdict;
  expect(await verdict()).toBe(`address 198.51.100.2 of a deleted nat gateway on node ${f.two.server_uuid}`);
  await f.apply(f.two);
  expect(await isFree(gateway)).toBe(true);
  expect(await verdict()).toBe("true");
  expect((await f.t.call("DELETE", path)).status).toBe(204);
});

test("an address that cannot be given back does not block others; an address that is free or has a new owner stays as it is", async () => {
  const body = {
    name: "again",
    nic_tag: "external",
    vlan_id: 8,
    ipv4_block: "192.0.2.0/28",
    ipv6_block: "2001:db8:a::/64",
  };
  const { id: network_id } = okOf(await f.t.call("POST", "/v1/system/external-subnets", { body }));
  const ofNetwork = { body: { name: "owner", network_id } };
  const owner = okOf(await f.call("POST", `/v1/floating-ips${f.tenant.selectors}`, ofNetwork));
  expect(owner.address).toBe("192.0.2.2");
  const free = async () =>
    (await f.t.db.query(
      "select low::int, high::int from pool_range where pool_id = $1 order by low",
      [`external:${network_id}:v4`],
    )).rows;
  // The address 192.0.2.9, at the offset 7, is neither free nor in use.
  await f.t.db.query("update pool_range set low = 8 where pool_id = $1", [`external:${network_id}:v4`]);
  expect(await free()).toEqual([{ low: 8, high: 12 }]);
  // The node is unknown, so the addresses stay reserved only for the time of the fence. One address is so far from the
  // start of its pool that the distance does not fit into a bigint. The last address is in no pool.
  await f.t.db.query(
    `insert into resting_address (address, vpc_id, leaving_cn_uuid, left_at)
     select a::inet, $1, gen_random_uuid(), berth_now() - make_interval(secs => $2)
       from unnest(array['192.0.2.2', '192.0.2.9', '192.0.2.12', '2001:db8:a:0:ffff:ffff:ffff:ffff',
                       '2001:db8:b::1']) a`,
    [f.vpc.id, NAT_GATEWAY_FENCE_S + 1],
  );
  await expect(releaseResting(f.t.db, NAT_GATEWAY_FENCE_S, 100)).rejects.toThrow("result is out of range");
  expect(await free()).toEqual([{ low: 7, high: 12 }]);
  const rest = "select host(address) as address from resting_address";
  expect((await f.t.db.query(rest)).rows).toEqual([{ address: "2001:db8:a:0:ffff:ffff:ffff:ffff" }]);
  await f.t.db.query("delete from resting_address");
  await f.t.db.query("update pool_range set low = 1 where pool_id = $1", [`external:${network_id}:v4`]);
  okOf(await f.call("DELETE", `/v1/floating-ips/${owner.id}`));
});

test("the address of a gateway that has left its node stays reserved until this node has applied a document without it", async () => {
  const gateway = await gatewayOn(f.two);
  const place = (patch: object) => f.t.call("PATCH", `/v1/cns/${f.two.server_uuid}/placement`, { body: patch });
  await place({ cordoned: true, cordoned_reason: "drain" });
  await expect.poll(() => hostOf(gateway), { timeout: 5_000, interval: 50 }).toBeNull();
  await remove(gateway);
  expect(await isFree(gateway)).toBe(false);
  await f.apply(f.two);
  expect(await isFree(gateway)).toBe(true);
  await place({ cordoned: false });
});

test("the address stays reserved until its silent node has certainly stopped the gateway", async () => {
  const gateway = await gatewayOn(f.two);
  await remove(gateway);
  await seen(f.two, NAT_GATEWAY_FENCE_S - 20);
  expect(await isFree(gateway)).toBe(false);
  await seen(f.two, NAT_GATEWAY_FENCE_S + 1);
  expect(await isFree(gateway)).toBe(true);
  await f.two.alive();
});

test("the address is free after the node has confirmed that it removed the VPC", async () => {
  const gateway = await gatewayOn(f.idle);
  await remove(gateway);
  expect((await f.poll(f.idle, { have: { [f.vpc.id]: 1 } })).gone).toEqual([f.vpc.id]);
  expect(await isFree(gateway)).toBe(false);
  await f.poll(f.idle);
  expect(await isFree(gateway)).toBe(true);
});

test("the address stays reserved for the time of the fence if the record of its node was removed", async () => {
  const gateway = await gatewayOn(f.idle);
  await remove(gateway);
  okOf(await f.t.call("POST", `/v1/cns/${f.idle.server_uuid}/disable`));
  okOf(await f.t.call("DELETE", `/v1/cns/${f.idle.server_uuid}`));
  expect(await isFree(gateway)).toBe(false);
  const ago = NAT_GATEWAY_FENCE_S + 1;
  await f.t.db.query("update resting_address set left_at = left_at - make_interval(secs => $1)", [ago]);
  expect(await isFree(gateway)).toBe(true);
});
