// Tests how the node of a NAT gateway is chosen and replaced. A gateway never runs on two nodes at once
// (docs/networking.md, "Where NAT gateways run"). The fence (NAT_GATEWAY_FENCE_S) is the silence of a node after which
// this node certainly runs no gateway.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NAT_GATEWAY_FENCE_S } from "../../src/contract/limits.ts";
import { listHomeless } from "../../src/db/nat-gateway-hosts.ts";
import type { NatGateway } from "../../src/contract/network.ts";
import { type Homeless, type HostlessGateway, isOff, whyHostless } from "../../src/lib/placement/nat-gateway-host.ts";
import { okOf } from "../support/control-plane.ts";
import { type NetworkFixture, type NetworkNode, openNetworkFixture } from "./network-fixture.ts";

const homeless = (fields: Partial<Homeless>): Homeless => ({
  id: "g",
  nic_tag: "external",
  barred: [],
  left_at: new Date(0),
  is_fenced: false,
  generation: 9,
  applied_generation: 8,
  ...fields,
});

test.each([
  ["that never had a node may get one", { left_at: null, applied_generation: null }, true],
  ["must wait until its old node has applied a document without the gateway", { applied_generation: 8 }, false],
  [
    "may get a node once its old node has applied the first document without the gateway",
    { applied_generation: 9 },
    true,
  ],
  ["must wait if its old node got the document and reported nothing", { applied_generation: -1 }, false],
  ["may get a node if its old node has no document of the VPC", { applied_generation: null }, true],
  [
    "may get a node if its old node was silent for the time of the fence",
    { applied_generation: -1, is_fenced: true },
    true,
  ],
])("a gateway %s", (_text, fields, is) => {
  expect(isOff(homeless(fields), 9)).toBe(is);
});

test.each<[string, Partial<HostlessGateway>, string]>([
  ["of an unknown network", { nic_tag: null }, "no external subnet contains its address 203.0.113.9"],
  ["without any node", { failed: {} }, "no node is registered"],
  [
    "whose nodes do not qualify",
    { failed: { seen: 1, state: 2, role: 3, nic_tag: 4, cordoned: 5, network: 6 } },
    'none of the 21 nodes can run it (2 not approved, 3 without role "edge" or "both", ' +
    "4 without a bridge for the NIC tag ext, 5 cordoned, " +
    "6 running a gateway of the VPC in another external network, 1 not seen for 60 s)",
  ],
  ["that waits for its old node", { leaves: "n1", failed: { none: 1 } }, "node n1, which it left, may still run it"],
  ["with an eligible node", { failed: { none: 1, role: 1 } }, "the server is choosing one"],
])("the server says why a gateway %s has no node", (_text, fields, reason) => {
  const ids = { id: "g", name: "out", public_address: "203.0.113.9", destination: "0.0.0.0/0" };
  const gateway = { ...ids, nic_tag: "ext", leaves: null, failed: {}, ...fields };
  expect(whyHostless(gateway)).toBe(`the NAT gateway out has no node: ${reason}`);
});

describe("a NAT gateway", () => {
  let f: NetworkFixture;
  let gateway: NatGateway;
  const TAGS = [{ name: "external", physical_nic: "eno2", vlan_id: null, mtu: 1_500, bridge: "br-ext" }];

  beforeAll(async () => {
    f = await openNetworkFixture();
    await f.t.call("POST", "/v1/system/nic-tags", { body: { name: "external", mtu: 1_400 } });
    okOf(await f.call("POST", `/v1/nat-gateways?vpc=${f.vpc.id}`, { body: { name: "egress" } }));
    const { items } = okOf(await f.call("GET", `/v1/nat-gateways?vpc=${f.vpc.id}`));
    gateway = items[0];
  });
  afterAll(() => f.t.close());

  const show = async (): Promise<NatGateway> => okOf(await f.call("GET", `/v1/nat-gateways/${gateway.id}`));
  /** Waits until the gateway has this node. */
  async function runsOn(node: NetworkNode | null): Promise<void> {
    await expect.poll(async () => (await show()).host_cn_uuid, { timeout: 5_000, interval: 50 })
      .toBe(node?.server_uuid ?? null);
  }
  const role = async (node: NetworkNode, to: string) =>
    okOf(await f.t.call("POST", `/v1/cns/${node.server_uuid}/role`, { body: { role: to } }));
  const place = (node: NetworkNode, patch: object) =>
    f.t.call("PATCH", `/v1/cns/${node.server_uuid}/placement`, { body: patch });

  test("has no node while no external subnet contains its address, and a node rejects the packets of the gateway's route", async () => {
    await role(f.two, "both");
    okOf(await f.two.call("POST", "/v1/agent/nic-tags", { nic_tags: TAGS }));
    await f.t.plane.pass();
    expect(await show()).toMatchObject({ host_cn_uuid: null, realized: { applied_generation: null } });
    const route = { destination: "0.0.0.0/0", target: { kind: "nat_gateway", nat_gateway_id: gateway.id } };
    await f.n.route(f.vpc.main_route_table_id, route);
    const [document] = (await f.poll(f.one)).vpcs;
    expect(document?.subnets[0]?.routes).toEqual([{ destination: "0.0.0.0/0", target: { kind: "reject" } }]);
  });

  test("without a node is not in effect, so a create with Prefer: wait gets no Preference-Applied even if all nodes are up to date", async () => {
    for (const node of [f.one, f.two]) await f.apply(node);
    const waiting = f.call("POST", `/v1/nat-gateways?vpc=${f.vpc.id}`, {
      body: { name: "homeless" },
      headers: { prefer: "wait=2" },
    });
    await f.isHeld();
    for (const node of [f.one, f.two]) await f.apply(node);
    const { status, body, headers } = await waiting;
    expect([status, headers.get("preference-applied")]).toEqual([201, null]);
    expect(body).toMatchObject({ host_cn_uuid: null, realized: { applied_generation: null } });
    expect((await f.call("DELETE", `/v1/nat-gateways/${body.id}`)).status).toBe(204);
  });

  test("gets an edge node with the NIC tag of the external subnet that contains its address", async () => {
    const body = { name: "isp", nic_tag: "external", vlan_id: 7, ipv4_block: "203.0.113.0/24" };
    okOf(await f.t.call("POST", "/v1/system/external-subnets", { body }));
    await runsOn(f.two);
    const [here] = (await f.poll(f.two)).vpcs;
    const { id: nat_gateway_id, public_address } = gateway;
    expect(here?.nat_gateways).toEqual([{ nat_gateway_id, public_address, port_forwards: [] }]);
    expect(here?.external).toEqual({
      bridge: "br-ext",
      vlan_id: 7,
      mtu: 1_400,
      gateway_ipv4: "203.0.113.1",
      gateway_ipv6: null,
    });
    const [there] = (await f.poll(f.one)).vpcs;
    expect([there?.nat_gateways, there?.external]).toEqual([[], null]);
    expect(there?.subnets[0]?.routes[0]?.target).toEqual({
      kind: "nat_gateway",
      underlay_address: f.two.underlay_address,
      nat_gateway_id,
    });
  });

  test("is not used by a route of the other family: the route rejects its packets on every node", async () => {
    const target = { kind: "nat_gateway", nat_gateway_id: gateway.id };
    const route = await f.n.route(f.vpc.main_route_table_id, { destination: "::/0", target });
    for (const node of [f.one, f.two]) {
      const [document] = (await f.poll(node)).vpcs;
      const kinds = document?.subnets[0]?.routes.map(({ destination, target }) => [destination, target.kind]);
      expect(kinds).toEqual([["0.0.0.0/0", "nat_gateway"], ["::/0", "reject"]]);
    }
    okOf(await f.call("DELETE", `/v1/routes/${route.id}`));
  });

  test("shows the connections that its own node reports, and ignores the reports of other nodes", async () => {
    const reports = async (node: NetworkNode, packets: number) => {
      const counts = [{ rule_id: gateway.id, packets, bytes: 60 * packets }];
      okOf(await node.call("POST", "/v1/agent/network/poll", { wait: 0, have: {}, counts }));
    };
    expect((await show()).counts).toBeNull();
    await reports(f.one, 99);
    expect((await show()).counts).toBeNull();
    await reports(f.two, 3);
    await reports(f.two, 7);
    expect((await show()).counts).toEqual({ connections: 7, counted_at: expect.any(String) });
    const { items } = okOf(await f.call("GET", `/v1/nat-gateways?vpc=${f.vpc.id}`));
    expect(items[0].counts).toMatchObject({ connections: 7 });
    // The count of an earlier node stays stored after the gateway has moved to another node.
    await f.t.db.query(
      "insert into nat_gateway_count values ($1, $2, $3, berth_now())",
      [gateway.id, f.one.server_uuid, Number.MAX_SAFE_INTEGER],
    );
    expect((await show()).counts).toMatchObject({ connections: Number.MAX_SAFE_INTEGER });
  });

  test("that is created with Prefer: wait is applied by its node before the create returns", async () => {
    const created = f.call("POST", `/v1/nat-gateways?vpc=${f.vpc.id}`, {
      body: { name: "second" },
      headers: { prefer: "wait=30" },
    });
    const [applying, ended] = [{ is: true }, created.finally(() => applying.is = false)];
    while (applying.is) {
      await f.t.plane.pass();
      for (const node of [f.one, f.two]) await f.apply(node);
    }
    const { status, body, headers } = await ended;
    expect([status, headers.get("preference-applied")]).toEqual([201, "wait=30"]);
    expect(body.host_cn_uuid).toBe(f.two.server_uuid);
    expect(body.realized.applied_generation).toBe(body.realized.desired_generation);
    expect((await f.call("DELETE", `/v1/nat-gateways/${body.id}`)).status).toBe(204);
  });

  test("leaves a cordoned node, and gets the next node once the old node has applied a document without the gateway", async () => {
    await role(f.idle, "edge");
    okOf(await f.idle.call("POST", "/v1/agent/nic-tags", { nic_tags: TAGS }));
    await f.apply(f.two);
    await place(f.two, { cordoned: true, cordoned_reason: "drain" });
    await runsOn(null);
    await f.t.plane.pass();
    await f.t.plane.pass();
    // Node two may still run the gateway.
    expect((await show()).host_cn_uuid).toBeNull();
    await f.apply(f.two);
    await runsOn(f.idle);
    await place(f.two, { cordoned: false });
  });

  test("leaves a node that is not live, and gets the next node only after the fence", async () => {
    await f.apply(f.idle);
    const seen = (seconds: number) =>
      f.t.db.query(
        "update cn_signal set last_seen = berth_now() - make_interval(secs => $2) where server_uuid = $1",
        [f.idle.server_uuid, seconds],
      );
    await seen(NAT_GATEWAY_FENCE_S - 20);
    await runsOn(null);
    await f.t.plane.pass();
    expect((await show()).host_cn_uuid).toBeNull();
    await seen(NAT_GATEWAY_FENCE_S + 1);
    await runsOn(f.two);
  });

  test("stays on its new node when the old node returns, and the old node must remove the VPC", async () => {
    await f.idle.alive();
    const answer = await f.poll(f.idle, { have: { [f.vpc.id]: 1 } });
    expect(answer).toEqual({ nodes: [], vpcs: [], gone: [f.vpc.id] });
    expect((await show()).host_cn_uuid).toBe(f.two.server_uuid);
  });

  test("gets the next node only after the fence if the record of its old node was removed", async () => {
    await place(f.two, { cordoned: true, cordoned_reason: "drain" });
    await runsOn(null);
    await f.apply(f.two);
    await runsOn(f.idle);
    await place(f.two, { cordoned: false });
    await f.apply(f.idle);
    okOf(await f.t.call("POST", `/v1/cns/${f.idle.server_uuid}/disable`));
    okOf(await f.t.call("DELETE", `/v1/cns/${f.idle.server_uuid}`));
    await runsOn(null);
    await f.t.plane.pass();
    await f.t.plane.pass();
    expect((await show()).host_cn_uuid).toBeNull();
    const ago = NAT_GATEWAY_FENCE_S + 1;
    await f.t.db.query("update nat_gateway set left_at = left_at - make_interval(secs => $1)", [ago]);
    await f.two.alive();
    await runsOn(f.two);
  });

  test("gets the next node only after the fence if its old node was approved again", async () => {
    await role(f.one, "edge");
    okOf(await f.one.call("POST", "/v1/agent/nic-tags", { nic_tags: TAGS }));
    await f.one.alive();
    await f.apply(f.two);
    // The agent registers without its key, so the approval deletes the reports of the node.
    const { claim_code } = await f.t.register({ server_uuid: f.two.server_uuid });
    okOf(await f.t.approve(claim_code));
    await runsOn(null);
    await f.t.plane.pass();
    await f.t.plane.pass();
    expect((await show()).host_cn_uuid).toBeNull();
    const ago = NAT_GATEWAY_FENCE_S + 1;
    await f.t.db.query("update nat_gateway set left_at = left_at - make_interval(secs => $1)", [ago]);
    await runsOn(f.one);
  });

  test("without a node is listed; the list is read in parts, each after the last id of the previous part", async () => {
    const made = ["first", "second", "third"].map(async (name) => {
      const query = `vpc=${f.vpc.id}`;
      return okOf(await f.call("POST", `/v1/nat-gateways?${query}`, { body: { name, family: "v6" } })).id as string;
    });
    const ids = (await Promise.all(made)).sort();
    const part = async (after: string | null) =>
      (await listHomeless(f.t.db, NAT_GATEWAY_FENCE_S, { rows_max: 2, after })).map(({ id }) => id);
    expect(await part(null)).toEqual(ids.slice(0, 2));
    expect(await part(ids[1]!)).toEqual(ids.slice(2));
  });
});
