// Tests the command that shows where a packet stops: opsctl asks the control plane, which asks the nodes. The nodes are
// the agent's own code with the simulated network driver (docs/networking.md, "Traces").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answerTrace } from "../../nodeagent/network/answer-trace.ts";
import { openDocumentStore } from "../../nodeagent/network/document-store.ts";
import { createNodeNetwork, type NodeNetwork } from "../../nodeagent/network/node-network.ts";
import { simulatedNetwork } from "../../nodeagent/network/simulated.ts";
import { TRACES_OPEN_MAX } from "../../src/contract/limits.ts";
import type { NetworkPollView } from "../../src/contract/network-document.ts";
import type { NetworkTrace, TraceQuestion } from "../../src/contract/network-trace.ts";
import type { FirewallRule } from "../../src/contract/network.ts";
import { opsctlAt, type OpsctlRunner } from "../cli/at-control-plane.ts";
import { okOf, openTestControlPlane } from "../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { type NetworkFixture, type NetworkNode, openNetworkFixture } from "./network-fixture.ts";

let f: NetworkFixture;
let at: OpsctlRunner;
let folder: TemporaryFolder;
const networks = new Map<NetworkNode, NodeNetwork>();

beforeAll(async () => {
  f = await openNetworkFixture();
  at = opsctlAt(f.t);
  folder = await temporaryFolder("trace");
  for (const node of [f.one, f.two]) {
    const store = await openDocumentStore(`${folder.path}/${node.server_uuid}`, () => {});
    networks.set(node, createNodeNetwork({ driver: simulatedNetwork(), store, log: () => {} }));
  }
});
afterAll(async () => {
  await f.t.close();
  await folder.remove();
});

async function poll(node: NetworkNode, wait: number): Promise<NetworkPollView> {
  const body = { wait, have: networks.get(node)!.have(), traces: true };
  return okOf(await node.call("POST", "/v1/agent/network/poll", body));
}

/** Stores and applies the newest documents. */
async function apply(node: NetworkNode): Promise<void> {
  for (const document of (await poll(node, 0)).vpcs) await networks.get(node)!.take(document);
}

/**
 * Answers the next question for the node. Polls repeatedly, because a poll can return new documents instead of a
 * question.
 */
async function answerOne(node: NetworkNode): Promise<void> {
  let question: TraceQuestion | undefined;
  await expect.poll(async () => {
    [question] = (await poll(node, 20)).traces ?? [];
    return question;
  }, { timeout: 20_000 }).toBeDefined();
  const answer = await answerTrace(networks.get(node)!, question!);
  okOf(await node.call("POST", "/v1/agent/network/trace", answer));
}

/** Runs `opsctl network trace` while the nodes answer one question each, in the order of the arguments. */
async function traced(words: string, ...nodes: readonly NetworkNode[]) {
  const running = at.run(`network trace ${words}`);
  for (const node of nodes) await answerOne(node);
  const ran = await running;
  return { code: ran.code, lines: ran.out().trimEnd().split("\n") };
}

const path = (query: Record<string, string>) =>
  `/v1/system/instances/${f.web.instance.id}/network-trace?${new URLSearchParams(query)}`;

test("a packet to a NIC on another node is followed over both nodes", async () => {
  for (const node of [f.one, f.two]) await apply(node);
  const { code, lines } = await traced(`web ${f.db.nic.primary_ipv4} 5432`, f.one, f.two);
  expect(lines.at(-1)).toMatch(/^On node .+, the packet arrives at db; .+\.$/);
  expect(lines.filter((line) => line.startsWith("node "))).toHaveLength(2);
  expect(code).toBe(0);
});

test("the destination may have any form of an IPv6 address", async () => {
  const written = f.db.nic.primary_ipv6!.replace("::", ":0:0:0:").toUpperCase();
  const { lines } = await traced(`web ${written} 5432`, f.one, f.two);
  expect(lines.at(-1)).toMatch(/^On node .+, the packet arrives at db; /);
});

describe("a firewall rule", () => {
  test("that denies the packet is named in the answer, at the sender and at the receiver", async () => {
    const { db, one, two } = f;
    const deny = { action: "deny", priority: 900, protocol: "tcp", destination_ports: { low: 5432, high: 5432 } };
    const rule: FirewallRule = await f.n.rule(f.vpc.id, { ...deny, name: "no-db", direction: "outbound" });
    await apply(one);
    const outbound = await traced(`web ${db.nic.primary_ipv4} 5432`, one);
    expect(outbound.code).toBe(1);
    expect(outbound.lines.at(-1)).toMatch(
      /^The packet stops on node .+: the firewall rule no-db denies it, outbound\.$/,
    );
    okOf(await f.call("PATCH", `/v1/firewall-rules/${rule.id}`, { body: { direction: "inbound" } }));
    await apply(one);
    // The receiver's node has not applied the change, so its answer is about the rules before the change.
    const before = await traced(`web ${db.nic.primary_ipv4} 5432`, one, two);
    expect([before.code, before.lines.join("\n")]).toEqual([
      0,
      expect.stringMatching(/has applied generation \d+ of \d+/),
    ]);
    await apply(two);
    const inbound = await traced(`web ${db.nic.primary_ipv4} 5432`, one, two);
    expect(inbound.lines.at(-1)).toMatch(/: the firewall rule no-db denies it, inbound\.$/);
    expect(inbound.code).toBe(1);
    // Packets to another port, or with another protocol, pass.
    expect((await traced(`web ${db.nic.primary_ipv4} 80`, one, two)).code).toBe(0);
    expect((await traced(`web ${db.nic.primary_ipv4} --protocol icmp4`, one, two)).code).toBe(0);
    expect((await traced(`web ${db.nic.primary_ipv6} --protocol icmp6`, one, two)).code).toBe(0);
    await f.n.remove(`/v1/firewall-rules/${rule.id}`);
  });
});

test("a packet to an unused address stops at the sender's node", async () => {
  await apply(f.one);
  const { code, lines } = await traced("web 10.0.1.77 80", f.one);
  expect([code, lines.at(-1)]).toEqual([1, expect.stringMatching(/: no NIC of the VPC has 10\.0\.1\.77\.$/)]);
});

describe("a NAT gateway without a node", () => {
  const summary = async () => (await traced("web 198.51.100.9 443 --protocol udp", f.one)).lines.at(-1);

  test("ends the trace, which names the gateway and the reason why no node can run it", async () => {
    const gateway = okOf(await f.call("POST", `/v1/nat-gateways?vpc=${f.vpc.id}`, { body: { name: "egress" } }));
    const target = { kind: "nat_gateway", nat_gateway_id: gateway.id };
    await f.n.route(f.vpc.main_route_table_id, { destination: "0.0.0.0/0", target });
    await apply(f.one);
    expect(await summary()).toMatch(
      /^The packet stops on node .+: the NAT gateway egress has no node: no external subnet contains its address .+\.$/,
    );
    await f.t.call("POST", "/v1/system/nic-tags", { body: { name: "external", mtu: 1_500 } });
    const subnet = { name: "isp", nic_tag: "external", vlan_id: 7, ipv4_block: "203.0.113.0/24" };
    okOf(await f.t.call("POST", "/v1/system/external-subnets", { body: subnet }));
    expect(await summary()).toMatch(
      /: the NAT gateway egress has no node: none of the 4 nodes can run it \(4 without role "edge" or "both"\)\.$/,
    );
    okOf(await f.t.call("POST", `/v1/cns/${f.two.server_uuid}/role`, { body: { role: "both" } }));
    expect(await summary()).toMatch(
      /\(3 without role "edge" or "both", 1 without a bridge for the NIC tag external\)\.$/,
    );
  });

  test("is not named as the reason for a packet of the other family, because the gateway cannot translate this packet", async () => {
    const { items } = okOf(await f.call("GET", `/v1/nat-gateways?vpc=${f.vpc.id}`));
    const target = { kind: "nat_gateway", nat_gateway_id: items[0].id };
    await f.n.route(f.vpc.main_route_table_id, { destination: "::/0", target });
    await apply(f.one);
    const { lines } = await traced("web 2001:db8::9 443", f.one);
    expect(lines.at(-1)).toMatch(/^The packet stops on node [^:]+: [^:]*::\/0[^:]*\.$/);
    expect(lines.at(-1)).not.toContain("has no node");
  });
});

test("the trace of a packet to another instance's floating IP continues on the node of that instance", async () => {
  const make = async (name: string) =>
    okOf(await f.call("POST", `/v1/floating-ips${f.selectors}`, { body: { name, family: "v4" } }));
  const attach = (id: string, nic_id: string) => f.call("POST", `/v1/floating-ips/${id}/attach`, { body: { nic_id } });
  const [ours, theirs] = [await make("ours"), await make("theirs")];
  await f.one.done(attach(ours.id, f.web.nic.id), "fip_claim");
  await f.two.done(attach(theirs.id, f.db.nic.id), "fip_claim");
  for (const node of [f.one, f.two]) await apply(node);
  const { code, lines } = await traced(`web ${theirs.address} 443`, f.one, f.two);
  expect([code, lines.at(-1)]).toEqual([
    1,
    expect.stringMatching(/: the default without a matching rule denies it, inbound\.$/),
  ]);
  const out = await traced("web 198.51.100.1 443", f.one);
  expect([out.code, out.lines.at(-1)]).toEqual([
    0,
    expect.stringContaining(`, the packet leaves by the floating IP ${ours.address}.`),
  ]);
});

test("if other nodes cannot reach a NIC because its node has no underlay address, the answer names this node", async () => {
  await f.node.alive();
  const { nic } = await f.placed({ ...f.node, underlay_address: "" }, "bare");
  await f.silence(f.node);
  const { rows: [cn] } = await f.t.db.query("select hostname from cn where server_uuid = $1", [f.node.server_uuid]);
  okOf(await f.call("PATCH", `/v1/nics/${nic.id}`, { body: { allowed_cidrs: ["10.0.1.128/28"] } }));
  await apply(f.one);
  for (const address of [nic.primary_ipv4, "10.0.1.130"]) {
    const { code, lines } = await traced(`web ${address} 80`, f.one);
    expect([code, lines.at(-1)]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(
          `^The packet stops on node .+: bare has this address, but its node ${cn!.hostname} has no underlay address.$`,
        ),
      ),
    ]);
  }
});

test("a question that one server process asks is answered through a poll at another process", async () => {
  await apply(f.one);
  const other = await openTestControlPlane({ databaseUrl: f.t.databaseUrl });
  try {
    const asked = other.call("GET", path({ destination: "10.0.1.77", port: "80" }));
    await answerOne(f.one);
    expect((okOf(await asked) as NetworkTrace).verdict).toBe("stops");
  } finally {
    await other.close();
  }
});

describe("refusals", () => {
  test.each([
    [{ destination: "10.0.1.7" }, "port: a tcp packet needs a port, 1 to 65535"],
    [{ destination: "10.0.1.7", port: "1", protocol: "icmp4" }, "port: icmp4 has no ports"],
    [{ destination: "10.0.1.7", protocol: "icmp6" }, "protocol: icmp6 does not fit an IPv4 address; use icmp4"],
    [{ destination: "somewhere", port: "1" }, "destination"],
    [{ destination: "10.0.1.7", port: "65536" }, "port"],
  ])("%j gets 400", async (query, message) => {
    const answer = await f.t.call("GET", path(query));
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(message)]);
  });

  test("a node can answer only the questions for itself, and each question only once", async () => {
    const asked = f.t.call("GET", path({ destination: "10.0.1.77", port: "80" }));
    const { traces: [question] = [] } = await poll(f.one, 20);
    const answer = await answerTrace(networks.get(f.one)!, question!);
    expect((await f.two.call("POST", "/v1/agent/network/trace", answer)).status).toBe(404);
    expect((await f.one.call("POST", "/v1/agent/network/trace", { ...answer, steps: [] })).status).toBe(400);
    okOf(await f.one.call("POST", "/v1/agent/network/trace", answer));
    expect((await f.one.call("POST", "/v1/agent/network/trace", answer)).status).toBe(404);
    okOf(await asked);
    expect((await f.t.db.query("select from network_trace")).rowCount).toBe(0);
  });

  test("an agent whose poll does not ask for traces gets no questions", async () => {
    const asked = f.t.call("GET", path({ destination: "10.0.1.77", port: "80" }));
    await expect.poll(async () => (await f.t.db.query("select from network_trace")).rowCount).toBe(1);
    expect(await f.poll(f.one, { have: networks.get(f.one)!.have() })).not.toHaveProperty("traces");
    await answerOne(f.one);
    okOf(await asked);
  });

  test("a request gets 503 if its node already has the maximum number of open questions", async () => {
    const ask = () => f.t.call("GET", path({ destination: "10.0.1.77", port: "80" }));
    const asked = Array.from({ length: TRACES_OPEN_MAX }, ask);
    await expect.poll(async () => (await f.t.db.query("select from network_trace")).rowCount).toBe(TRACES_OPEN_MAX);
    expect((await ask()).status).toBe(503);
    const { traces = [] } = await poll(f.one, 0);
    for (const question of traces) {
      okOf(await f.one.call("POST", "/v1/agent/network/trace", await answerTrace(networks.get(f.one)!, question)));
    }
    for (const answer of await Promise.all(asked)) okOf(answer);
  });
});
