// The router of a VPC has only one external network on each node. So two NAT gateways of one VPC in different external
// networks never run on one node. A gateway also avoids nodes that serve floating IPs of the VPC in another network
// (docs/networking.md, "Where NAT gateways run").
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
  for (const name of ["external", "second"]) {
    okOf(await f.t.call("POST", "/v1/system/nic-tags", { body: { name, mtu: 1_500 } }));
  }
});
afterAll(() => f.t.close());

async function subnet(name: string, ipv4_block: string, vlan_id: number | null, nic_tag = "external"): Promise<string> {
  const body = { name, nic_tag, vlan_id, ipv4_block };
  return okOf(await f.t.call("POST", "/v1/system/external-subnets", { body })).id;
}
/** Reports the bridges of the node by NIC tag. */
async function bridges(node: NetworkNode, of: Readonly<Record<string, string>>): Promise<void> {
  const fields = { physical_nic: "eno2", vlan_id: null, mtu: 1_500 };
  const nic_tags = Object.entries(of).map(([name, bridge]) => ({ name, bridge, ...fields }));
  okOf(await node.call("POST", "/v1/agent/nic-tags", { nic_tags }));
}
async function beEdge(node: NetworkNode, role = "edge"): Promise<void> {
  okOf(await f.t.call("POST", `/v1/cns/${node.server_uuid}/role`, { body: { role } }));
  await bridges(node, { external: "br-ext" });
  await node.alive();
}
const create = async (name: string, network_id: string): Promise<NatGateway> =>
  okOf(await f.call("POST", `/v1/nat-gateways?vpc=${f.vpc.id}`, { body: { name, network_id } }));
const hostOf = async ({ id }: NatGateway) => okOf(await f.call("GET", `/v1/nat-gateways/${id}`)).host_cn_uuid;
const runsOn = (gateway: NatGateway, node: NetworkNode | null) =>
  expect.poll(() => hostOf(gateway), { timeout: 5_000, interval: 50 }).toBe(node?.server_uuid ?? null);
/** The external subnets by VLAN, and the gateways. Node two runs `one` and `same`, the idle node runs `other`. */
let networks: { readonly seven: string; readonly eight: string };
let gateways: { readonly one: NatGateway; readonly other: NatGateway; readonly same: NatGateway };

test("a gateway in another VLAN waits for another edge node, and the server says why; a gateway in the same VLAN does not wait", async () => {
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
  networks = { seven: first!, eight: second! };
  gateways = { one, other, same };
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
  // A process of an earlier release calls the guard without the gateway's id.
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

test("if one node has gateways in two networks, only the gateways in the network of the lowest address stay on the node", async () => {
  const { one, other, same } = gateways;
  // Each change of a gateway's node increments the version.
  const version = async ({ id }: NatGateway) =>
    (await f.t.db.query("select version from nat_gateway where id = $1", [id])).rows[0].version;
  const before = await Promise.all([one, same].map(version));
  // A process of an earlier release chose node two for a gateway in another VLAN.
  await f.t.db.query("update nat_gateway set host_cn_uuid = $2 where id = $1", [other.id, f.two.server_uuid]);
  await runsOn(other, null);
  await f.apply(f.two);
  await runsOn(other, f.idle);
  expect(await Promise.all([one, same].map(hostOf))).toEqual([f.two.server_uuid, f.two.server_uuid]);
  expect(await Promise.all([one, same].map(version))).toEqual(before);
});

test("a gateway gets a node that serves a floating IP of the VPC in another network only if no other node is eligible", async () => {
  await beEdge(f.one, "both");
  const body = { name: "www", network_id: networks.seven };
  const ip = okOf(await f.call("POST", `/v1/floating-ips${f.selectors}`, { body }));
  const attach = f.call("POST", `/v1/floating-ips/${ip.id}/attach`, { body: { nic_id: f.web.nic.id } });
  await f.one.done(attach, "fip_claim");
  // The idle node gets the gateway although it already runs a gateway and node one runs none.
  const fourth = await create("fourth", networks.eight);
  await runsOn(fourth, f.idle);
  const cordon = (cordoned: boolean) =>
    f.t.call("PATCH", `/v1/cns/${f.idle.server_uuid}/placement`, { body: { cordoned } });
  okOf(await cordon(true));
  const fifth = await create("fifth", networks.eight);
  await runsOn(fifth, f.one);
  okOf(await cordon(false));
});

test("two NIC tags with the same VLAN are one network if they have one bridge, and two networks if they have two bridges", async () => {
  await bridges(f.two, { external: "br-ext", second: "br-ext" });
  const gateway = await create("second tag", await subnet("second seven", "198.51.100.48/28", 7, "second"));
  await runsOn(gateway, f.two);
  const [document] = (await f.poll(f.two)).vpcs;
  expect(document?.nat_gateways.map(({ nat_gateway_id }) => nat_gateway_id)).toContain(gateway.id);
  const vlan = await create("second VLAN", await subnet("second nine", "198.51.100.64/28", 9, "second"));
  await f.t.plane.pass();
  expect(await hostOf(vlan)).toBeNull();
  await bridges(f.two, { external: "br-ext", second: "br-two" });
  await runsOn(gateway, null);
  expect(await hostOf(gateways.one)).toBe(f.two.server_uuid);
});
