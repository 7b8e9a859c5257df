// Sends real packets through several NAT gateways of one VPC, which all run on one node. The route of a packet decides
// with which public address the packet leaves (docs/networking.md, "Routes").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DocumentRoute, NetworkDocument } from "../../src/contract/network-document.ts";
import { lacking } from "../support/optional-programs.ts";
import {
  documentOf,
  EXTERNAL_GATEWAY,
  INTERNET_HOST,
  machine,
  type NodeName,
  NODES,
  type TestVpc,
} from "./documents.ts";
import { type NetworkSite, openNetworkSite } from "./site.ts";

const missing = lacking("ip", "nft", "unshare", "nsenter", "conntrack", "arping", "python3", "nc");

/** The gateways, in the order of their ids. Node n1 runs all of them. */
const GATEWAYS = [
  { nat_gateway_id: "a4", public_address: "203.0.113.2" },
  { nat_gateway_id: "a6", public_address: "2001:db8::2" },
  { nat_gateway_id: "b4", public_address: "203.0.113.3" },
  { nat_gateway_id: "b6", public_address: "2001:db8::3" },
] as const;
type GatewayId = (typeof GATEWAYS)[number]["nat_gateway_id"];
const addressOf = (id: GatewayId) => GATEWAYS.find(({ nat_gateway_id }) => nat_gateway_id === id)!.public_address;

const to = (destination: string, nat_gateway_id: GatewayId): DocumentRoute => (
  { destination, target: { kind: "nat_gateway", underlay_address: NODES.n1, nat_gateway_id } }
);
/**
 * The second subnet uses the gateways `b`, except for two destinations: the lower half of the internet host's IPv4
 * block (gateway a4), and the host's IPv6 address (gateway a6).
 */
const ROUTES: Readonly<Record<string, DocumentRoute[]>> = {
  s1: [to("0.0.0.0/0", "a4"), to("::/0", "a6")],
  s2: [
    ...[to("0.0.0.0/0", "b4"), to("198.51.100.0/24", "a4"), to("198.51.100.128/25", "b4")],
    ...[to("::/0", "b6"), to(`${INTERNET_HOST.ipv6}/128`, "a6")],
  ],
};

const VPC: TestVpc = {
  vni: 4_096,
  machines: [
    machine("m1", "n1", { net: 1, host: 5, vpc: "a" }),
    machine("m2", "n1", { net: 2, host: 5, vpc: "a" }),
    machine("m3", "n2", { net: 1, host: 6, vpc: "a" }),
    machine("m4", "n2", { net: 2, host: 6, vpc: "a" }),
  ],
  rules: [],
  edge: "n1",
  routes: [],
};
const PORT = 8_000;

function document(node: NodeName, gateways: readonly (typeof GATEWAYS)[number][] = GATEWAYS): NetworkDocument {
  const plain = documentOf(VPC, node);
  const subnets = plain.subnets.map((subnet) => ({ ...subnet, routes: ROUTES[subnet.subnet_id]! }));
  return { ...plain, subnets, nat_gateways: node === "n1" ? [...gateways] : [] };
}

describe.skipIf(missing !== null)("two NAT gateways of each family on one node", () => {
  let site: NetworkSite;

  beforeAll(async () => {
    site = await openNetworkSite();
    for (const node of ["n1", "n2"] as const) {
      await site.driver(node).apply(document(node));
      for (const each of VPC.machines.filter((each) => each.node === node)) {
        await site.plug(node, document(node), each);
      }
      await site.driver(node).apply(document(node));
    }
    await site.serve("inet", PORT, "internet");
  });
  afterAll(() => site?.close());

  const asks = async (from: string, address: string) =>
    (await site.inMachine(from, "nc", "-w", "2", address, String(PORT))).out.trim();

  test.each<[string, string, string, GatewayId]>([
    ["of the first subnet", "m1", INTERNET_HOST.ipv4, "a4"],
    ["of the first subnet, by IPv6", "m1", INTERNET_HOST.ipv6, "a6"],
    ["of the first subnet, from another node", "m3", EXTERNAL_GATEWAY.ipv4, "a4"],
    ["of the second subnet", "m2", EXTERNAL_GATEWAY.ipv4, "b4"],
    ["of the second subnet, by IPv6", "m2", EXTERNAL_GATEWAY.ipv6, "b6"],
    ["of the second subnet, from another node", "m4", EXTERNAL_GATEWAY.ipv4, "b4"],
    ["of the second subnet, by IPv6 from another node", "m4", EXTERNAL_GATEWAY.ipv6, "b6"],
    ["with the longest prefix", "m2", INTERNET_HOST.ipv4, "a4"],
    ["with the longest prefix, by IPv6", "m2", INTERNET_HOST.ipv6, "a6"],
    ["with the longest prefix, from another node", "m4", INTERNET_HOST.ipv4, "a4"],
  ])(
    "a packet leaves with the address of the gateway that is the target of the route %s",
    async (_, from, address, id) => {
      expect(await asks(from, address)).toBe(`internet ${addressOf(id)}`);
    },
  );

  test("each gateway counts its own connections, even after the ruleset was replaced", async () => {
    const driver = site.driver("n1");
    const counted = async () =>
      (await driver.ruleCounts(VPC.vni)).map(({ rule_id, packets }) => [rule_id, packets > 0]);
    const all = GATEWAYS.map(({ nat_gateway_id }) => [nat_gateway_id, true]);
    expect(await counted()).toEqual(all);
    // A new driver replaces the ruleset when it applies its first document.
    expect((await driver.apply(document("n1"))).ruleset_replaced).toBe(true);
    expect(await counted()).toEqual(all);
    expect(await driver.apply(document("n1")), "an unchanged document").toEqual({
      changes: 0,
      ruleset_replaced: false,
    });
  });

  test("a document of an older server, which does not name the gateways, uses the first gateway of each family", async () => {
    const unnamed = (route: DocumentRoute): DocumentRoute =>
      route.target.kind === "nat_gateway"
        ? { ...route, target: { kind: "nat_gateway", underlay_address: route.target.underlay_address } }
        : route;
    const named = document("n1");
    await site.driver("n1").apply({
      ...named,
      subnets: named.subnets.map((subnet) => ({ ...subnet, routes: subnet.routes.map(unnamed) })),
    });
    expect(await asks("m2", EXTERNAL_GATEWAY.ipv4)).toBe(`internet ${addressOf("a4")}`);
    expect(await asks("m2", EXTERNAL_GATEWAY.ipv6)).toBe(`internet ${addressOf("a6")}`);
    await site.driver("n1").apply(named);
  });
});
