// Tests which node gets which network document, when, and what the answers contain (docs/networking.md, "Network
// documents").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { documentProblem } from "../../nodeagent/network/document-check.ts";
import { MTU_MIN, UNDERLAY_MTU_MIN } from "../../src/contract/limits.ts";
import { type NetworkDocument, NetworkPollView } from "../../src/contract/network-document.ts";
import { okOf } from "../support/control-plane.ts";
import { type NetworkFixture, type NetworkNode, openNetworkFixture } from "./network-fixture.ts";

let f: NetworkFixture;
beforeAll(async () => {
  f = await openNetworkFixture();
});
afterAll(() => f.t.close());

test("a node gets the document of each VPC of which it hosts a NIC, and the addresses of the other nodes", async () => {
  const { one, two, vpc, subnet, web, db } = f;
  const answer = NetworkPollView.parse(await f.poll(one));
  expect(answer.nodes).toEqual([two.underlay_address]);
  expect(answer.gone).toEqual([]);
  const document = answer.vpcs[0] as NetworkDocument;
  expect(answer.vpcs).toHaveLength(1);
  expect(document).toMatchObject({
    format: 1,
    vpc_id: vpc.id,
    vni: vpc.vni,
    mtu: 1_450,
    blocks: ["10.0.0.0/16", "fd00:10::/48"],
    subnets: [{ subnet_id: subnet.id, ipv4_block: "10.0.1.0/24", gateway_ipv4: "10.0.1.1", routes: [] }],
    nat_gateways: [],
    external: null,
    firewall_rules: [],
  });
  expect(document.local_nics).toEqual([{
    nic_id: web.nic.id,
    instance_id: web.instance.id,
    hostname: web.instance.name,
    subnet_id: subnet.id,
    mac: web.nic.mac,
    ipv4: web.nic.primary_ipv4,
    ipv6: web.nic.primary_ipv6,
    blocks: [],
    floating_ips: [],
    arriving: false,
    connections_max: null,
    packets_per_second_max: null,
    bytes_per_second_max: null,
  }]);
  const { primary_ipv4: ipv4, primary_ipv6: ipv6 } = db.nic;
  expect(document.remote_nics).toEqual([{ ipv4, ipv6, underlay_address: two.underlay_address }]);
  expect(document.peers).toEqual([two.underlay_address]);
});

test("from the next change of its VPC on, a NIC has the limits of the first size class that fits its instance", async () => {
  const unlimited = { connections_max: null, packets_per_second_max: null, bytes_per_second_max: null };
  const small = { connections_max: 1_000, packets_per_second_max: 5_000, bytes_per_second_max: 12_500_000 };
  const medium = { ...unlimited, connections_max: 64_000 };
  const limits = async (...classes: readonly object[]) => {
    okOf(await f.t.call("PUT", "/v1/config/network.nic_limits", { body: { value: classes } }));
    await f.n.rule(f.vpc.id, { priority: 1 });
    return (await f.poll(f.one)).vpcs[0]?.local_nics[0];
  };
  expect(f.web.instance.cpu, "the vCPUs of the fixture's instances").toBe(2);
  expect(await limits({ cpu_max: 1, ...small }, { cpu_max: 2, ...medium })).toMatchObject(medium);
  expect(await limits({ cpu_max: 2, ...small }, { cpu_max: null, ...medium })).toMatchObject(small);
  expect(await limits({ cpu_max: 1, ...small }, { cpu_max: null, ...medium })).toMatchObject(medium);
  expect(await limits({ cpu_max: 1, ...small })).toMatchObject(unlimited);
});

test("the document contains the DNS names of instances, such as web.PROJECT.internal", async () => {
  const [document] = (await f.poll(f.one)).vpcs;
  const { primary_ipv4: ipv4, primary_ipv6: ipv6 } = f.web.nic;
  expect(document?.names).toContainEqual({ name: `web.${f.project}.internal`, ipv4, ipv6 });
});

test("a node without instances gets no document", async () => {
  expect(await f.poll(f.idle)).toEqual({ nodes: [], vpcs: [], gone: [] });
});

test("routes and rules are in the document, and the rules are in the order of their evaluation", async () => {
  const { vpc, n } = f;
  await n.rule(vpc.id, { priority: 10, protocol: "tcp", destination_ports: { low: 22, high: 22 } });
  const low = await n.rule(vpc.id, { priority: 20, action: "allow", source_cidr: "10.9.0.0/16" });
  const high = await n.rule(vpc.id, { priority: 20, action: "deny", protocol: "icmp4" });
  const route = await n.route(vpc.main_route_table_id, { destination: "10.9.0.0/16", target: { kind: "blackhole" } });
  await n.route(vpc.main_route_table_id, { destination: "10.8.0.0/16", target: { kind: "virtual_gateway" } });
  const [document] = (await f.poll(f.one)).vpcs;
  expect(document?.firewall_rules.map(({ rule_id }) => rule_id).slice(0, 2)).toEqual([high.id, low.id]);
  expect(document?.firewall_rules[1]).toMatchObject({ source_cidr: "10.9.0.0/16", destination_ports: null });
  expect(document?.subnets[0]?.routes).toEqual([{ destination: route.destination, target: { kind: "blackhole" } }]);
});

test("the counters of a node are deleted when the node has left the VPC and no longer stores its document", async () => {
  const rule = await f.n.rule(f.vpc.id, { priority: 4 });
  const placed = await f.placed(f.idle, "leaves");
  const have = await f.apply(f.idle);
  const poll = (have: object) =>
    f.idle.call("POST", "/v1/agent/network/poll", {
      wait: 0,
      have,
      counts: [{ rule_id: rule.id, packets: 5, bytes: 9 }],
    });
  okOf(await poll(have));
  const nodes = async () =>
    (await f.t.db.query("select server_uuid from firewall_rule_count where rule_id = $1", [rule.id])).rows;
  expect(await nodes()).toEqual([{ server_uuid: f.idle.server_uuid }]);
  await f.removed(placed);
  okOf(await poll(have));
  expect(await nodes()).toHaveLength(1);
  okOf(await poll({}));
  expect(await nodes()).toEqual([]);
  okOf(await f.call("DELETE", `/v1/firewall-rules/${rule.id}`));
});

test("a rule shows the sums of the counters that the nodes of its VPC report", async () => {
  const rule = await f.n.rule(f.vpc.id, { priority: 3 });
  const shown = async () => okOf(await f.call("GET", `/v1/firewall-rules/${rule.id}`)).counts;
  const reports = (node: NetworkNode, ...counts: readonly object[]) =>
    node.call("POST", "/v1/agent/network/poll", { wait: 0, have: {}, counts });
  expect(await shown()).toBeNull();
  const absent = { rule_id: randomUUID(), packets: 1, bytes: 1 };
  okOf(await reports(f.one, { rule_id: rule.id, packets: 3, bytes: 180 }, absent));
  expect(await shown()).toEqual({ packets: 3, bytes: 180, counted_at: expect.any(String) });
  okOf(await reports(f.one, { rule_id: rule.id, packets: 4, bytes: 240 }));
  okOf(await reports(f.two, { rule_id: rule.id, packets: 10, bytes: 5_000_000_000_000 }));
  okOf(await reports(f.idle, { rule_id: rule.id, packets: 99, bytes: 99 }));
  expect(await shown(), "the idle node has no part of the VPC").toMatchObject({
    packets: 14,
    bytes: 5_000_000_000_240,
  });
  const { items } = okOf(await f.call("GET", `/v1/firewall-rules?vpc=${f.vpc.id}`));
  expect(items.find(({ id }: { id: string }) => id === rule.id).counts).toEqual(await shown());
  // The sums are above the greatest number that JSON readers keep exact.
  const most = Number.MAX_SAFE_INTEGER;
  okOf(await reports(f.one, { rule_id: rule.id, packets: most, bytes: most }));
  expect(await shown()).toMatchObject({ packets: most, bytes: most });
  expect((await reports(f.one, { rule_id: rule.id, packets: -1, bytes: 0 })).status).toBe(400);
  okOf(await f.call("DELETE", `/v1/firewall-rules/${rule.id}`));
  okOf(await reports(f.one, { rule_id: rule.id, packets: 5, bytes: 300 }));
});

describe("a poll that waits", () => {
  test("is answered when a rule changes, with the whole document at a higher generation", async () => {
    const have = await f.stored(f.one);
    const waiting = f.poll(f.one, { wait: 20, have });
    await f.isHeld();
    const rule = await f.n.rule(f.vpc.id, { priority: 7 });
    const { vpcs: [document] } = await waiting;
    expect(document?.generation).toBeGreaterThan(have[f.vpc.id]!);
    expect(document?.firewall_rules.map(({ rule_id }) => rule_id)).toContain(rule.id);
  });

  test("is not answered after a new description of the VPC or a change of another VPC", async () => {
    const have = await f.stored(f.one);
    const waiting = f.poll(f.one, { wait: 1, have });
    await f.isHeld();
    const other = await f.n.vpc();
    await f.n.rule(other.id);
    await f.call("PATCH", `/v1/vpcs/${f.vpc.id}`, { body: { description: "new" } });
    expect(await waiting).toEqual({ nodes: [f.two.underlay_address], vpcs: [], gone: [] });
  });

  test("is answered at once if a change was committed since the last poll", async () => {
    const have = await f.stored(f.one);
    await f.n.rule(f.vpc.id);
    const answer = await f.poll(f.one, { wait: 20, have });
    expect(answer.vpcs).toHaveLength(1);
  });
});

test("a VPC whose last instance on the node is deleted is listed as gone until the node polls without the VPC", async () => {
  const extra = await f.placed(f.idle, "extra");
  const have = await f.stored(f.idle);
  expect(Object.keys(have)).toEqual([f.vpc.id]);
  await f.removed(extra);
  expect(await f.poll(f.idle, { have })).toEqual({ nodes: [], vpcs: [], gone: [f.vpc.id] });
  expect(await f.offered(f.idle)).toEqual([f.vpc.id]);
  expect(await f.poll(f.idle)).toEqual({ nodes: [], vpcs: [], gone: [] });
  expect(await f.offered(f.idle)).toEqual([]);
});

test("a node does not get a VPC of another tenant", async () => {
  const other = await f.otherTenant();
  await f.poll(f.one);
  const { vpcs } = await f.poll(f.one);
  expect(vpcs.map(({ vpc_id }) => vpc_id)).toEqual([f.vpc.id]);
  expect(JSON.stringify(vpcs)).not.toContain(other.vpc.id);
});

test("a new underlay address of a node changes the other nodes' documents", async () => {
  const have = await f.stored(f.one);
  const path = `/v1/cns/${f.two.server_uuid}/underlay`;
  const patched = await f.t.call("PATCH", path, { body: { underlay_address: "192.0.2.77", underlay_mtu: 1_400 } });
  expect(patched.body).toMatchObject({ underlay_address: "192.0.2.77", underlay_mtu: 1_400 });
  const { nodes, vpcs: [document] } = await f.poll(f.one, { have });
  expect(nodes).toEqual(["192.0.2.77"]);
  expect([document?.mtu, document?.remote_nics[0]?.underlay_address]).toEqual([1_350, "192.0.2.77"]);
  const taken = await f.t.call("PATCH", `/v1/cns/${f.one.server_uuid}/underlay`, {
    body: { underlay_address: "192.0.2.77" },
  });
  expect([taken.status, taken.body.message]).toEqual([409, "another node has this underlay address"]);
  await f.t.call("PATCH", path, { body: { underlay_address: null, underlay_mtu: null } });
  expect((await f.poll(f.one)).nodes).toEqual([f.two.underlay_address]);
});

test("a node with a very small underlay MTU does not make the documents of other nodes invalid", async () => {
  const { t, one, two } = f;
  const have = await f.stored(one);
  const path = `/v1/cns/${two.server_uuid}/underlay`;
  const refused = await t.call("PATCH", path, { body: { underlay_mtu: UNDERLAY_MTU_MIN - 1 } });
  expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining("underlay_mtu")]);
  okOf(await t.call("PATCH", path, { body: { underlay_mtu: UNDERLAY_MTU_MIN } }));
  expect((await f.poll(one, { have })).vpcs[0]?.mtu).toBe(MTU_MIN);
  okOf(await t.call("PATCH", path, { body: { underlay_mtu: null } }));
  // A node reports the MTU of its underlay. The contract permits MTU_MIN for the underlay. With this value, the VXLAN
  // headers would leave a VPC less than IPv6 needs.
  await t.db.query("update cn set underlay_mtu = $2, version = version + 1 where server_uuid = $1", [
    two.server_uuid,
    MTU_MIN,
  ]);
  const [document] = (await f.poll(one)).vpcs;
  expect([document?.mtu, documentProblem(document)]).toEqual([MTU_MIN, null]);
  await t.db.query("update cn set underlay_mtu = 1500, version = version + 1 where server_uuid = $1", [
    two.server_uuid,
  ]);
});

test("a floating IP is in the document of its NIC's node, and in no document while it moves", async () => {
  const { one, two, web, db, vpc } = f;
  const address = async (node: typeof one) =>
    (await f.poll(node)).vpcs[0]?.local_nics.flatMap((nic) => nic.floating_ips);
  const ip = okOf(await f.call("POST", `/v1/floating-ips${f.selectors}`, { body: { name: "www", family: "v4" } }));
  const attach = (nic_id: string) => f.call("POST", `/v1/floating-ips/${ip.id}/attach`, { body: { nic_id } });
  const before = await f.stored(one);
  await one.done(attach(web.nic.id), "fip_claim");
  expect((await f.poll(one, { have: before })).vpcs.map(({ vpc_id }) => vpc_id)).toEqual([vpc.id]);
  expect([await address(one), await address(two)]).toEqual([[ip.address], []]);
  const moving = attach(db.nic.id);
  const release = await one.take();
  expect([await address(one), await address(two)]).toEqual([[], []]);
  await one.complete(release);
  await two.done(moving, "fip_claim");
  expect([await address(one), await address(two)]).toEqual([[], [ip.address]]);
});
