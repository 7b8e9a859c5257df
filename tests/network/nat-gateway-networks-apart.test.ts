// Tests that two NAT gateways of one VPC in different external networks never run on one node: the router of a VPC has
// only one external network on each node (docs/networking.md, "Where NAT gateways run").
import { afterAll, beforeAll, expect, test } from "vitest";
import { CN_LIVE_S } from "../../src/contract/limits.ts";
import type { NatGateway } from "../../src/contract/network.ts";
import { listHostlessGateways } from "../../src/db/hostless-gateways.ts";
import { whyHostless } from "../../src/lib/placement/nat-gateway-host.ts";
import { okOf } from "../support/control-plane.ts";
import { type NetworkFixture, type NetworkNode, openNetworkFixture } from "./network-fixture.ts";

let f: NetworkFixture;
beforeAll(async () => {
  f = await openNetworkFixture();
  okOf(await f.t.call("POST", "/v1/system/nic-tags", { body: { name: "external", mtu: 1_500 } }));
});
afterAll(() => f.t.close());

async function subnet(name: string, ipv4_block: string, vlan_id: number | null): Promise<string> {
  const body = { name, nic_tag: "external", vlan_id, ipv4_block };
  return okOf(await f.t.call("POST", "/v1/system/external-subnets", { body })).id;
}
async function beEdge(node: NetworkNode): Promise<void> {
  okOf(await f.t.call("POST", `/v1/cns/${node.server_uuid}/role`, { body: { role: "edge" } }));
  const nic_tags = [{ name: "external", physical_nic: "eno2", vlan_id: null, mtu: 1_500, bridge: "br-ext" }];
  okOf(await node.call("POST", "/v1/agent/nic-tags", { nic_tags }));
  await node.alive();
}
const create = async (name: string, network_id: string): Promise<NatGateway> =>
  okOf(await f.call("POST", `/v1/nat-gateways?vpc=${f.vpc.id}`, { body: { name, network_id } }));
const hostOf = async ({ id }: NatGateway) => okOf(await f.call("GET", `/v1/nat-gateways/${id}`)).host_cn_uuid;
const runsOn = (gateway: NatGateway, node: NetworkNode) =>
  expect.poll(() => hostOf(gateway), { timeout: 5_000, interval: 50 }).toBe(node.server_uuid);

test("a gateway in another VLAN waits for another edge node, and the server says why; one in the same VLAN does not", async () => {
  const [first, second, third] = [
    await subnet("seven", "198.51.100.0/28", 7),
    await subnet("eight", "198.51.100.16/28", 8),
    await subnet("seven too", "198.51.100.32/28", 7),
  ];
  await beEdge(f.two);
  const one = await create("one", first!);
  await runsOn(one, f.two);
  const other = await create("other", second!);
  const same = await create("same", third!);
  await runsOn(same, f.two);
  await f.t.plane.pass();
  expect(await hostOf(other)).toBeNull();
  const allows = async (more: object) => {
    const args = { server_uuid: f.two.server_uuid, nic_tag: "external", live_s: CN_LIVE_S, ...more };
    return (await f.t.db.query("select guard_cn_may_host_gateway($1) as allows", [args])).rows[0].allows;
  };
  expect(await Promise.all([one, same, other].map(({ id }) => allows({ gateway_id: id })))).toEqual([
    true,
    true,
    false,
  ]);
  // A process of an earlier release does not name the gateway.
  expect(await allows({})).toBe(true);
  const target = { kind: "nat_gateway", nat_gateway_id: other.id };
  await f.n.route(f.vpc.main_route_table_id, { destination: "0.0.0.0/0", target });
  const asked = { subnet_id: f.web.nic.subnet_id, address: "192.0.2.200", live_s: CN_LIVE_S };
  const [hostless] = await listHostlessGateways(f.t.db, asked);
  expect(whyHostless(hostless!)).toContain("1 running a gateway of the VPC in another external network");
  await beEdge(f.idle);
  await runsOn(other, f.idle);
  const documents = await Promise.all([f.two, f.idle].map(async (node) => (await f.poll(node)).vpcs[0]));
  expect(documents.map((each) => [each?.external?.vlan_id, each?.external?.gateway_ipv4])).toEqual([
    [7, "198.51.100.1"],
    [8, "198.51.100.17"],
  ]);
});
