// Tests where a packet stops according to the document and the taps that exist.
import { expect, test } from "vitest";
import { tapName } from "../../../nodeagent/network/names.ts";
import { trace } from "../../../nodeagent/network/trace.ts";
import type { DocumentRoute, DocumentRule } from "../../../src/contract/network-document.ts";
import { documentOf, machine, NODES, rule } from "../../networks/documents.ts";

const a1 = { ...machine("a1", "n1", { net: 1, host: 5, vpc: "a" }), floating_ips: ["203.0.113.7"] };
const a2 = { ...machine("a2", "n2", { net: 1, host: 6, vpc: "a" }), addresses: ["10.0.1.9"] };
const a4 = { ...machine("a4", "n1", { net: 2, host: 6, vpc: "a" }), blocks: ["10.0.1.9/32"] };

type Given = { from: string; to: string; rules?: DocumentRule[]; routes?: DocumentRoute[]; taps?: (typeof a1)[] };

function traced({ from, to, rules = [], routes = [], taps = [a1, a4] }: Given) {
  const document = documentOf({ vni: 4_096, machines: [a1, a2, a4], rules, edge: "n3", routes }, "n1");
  const names = new Set(taps.map(({ mac }) => tapName(mac)));
  const { steps, passes } = trace({ document, taps: names, underlay_address: NODES.n1, from, to, port: 443 });
  return `${passes ? "passes" : "stops"}: ${steps.at(-1)}`;
}

const deny = rule({ rule_id: "r1", direction: "outbound", action: "deny", protocol: "tcp" });
const blackhole: DocumentRoute = { destination: "10.0.1.0/24", target: { kind: "blackhole" } };

test.each<[string, Given, string]>([
  [
    "a NIC of this node",
    { from: "10.0.2.6", to: "10.0.1.5" },
    "passes: arrives at a1; if the sender gets no answer, the guest itself drops the packet",
  ],
  [
    "a NIC of another node",
    { from: "10.0.1.5", to: "10.0.1.6" },
    "passes: leaves to the node 192.0.2.2; continue with the trace there",
  ],
  [
    "a further address of a NIC of another node, which is an allowed block of a NIC of this node",
    { from: "10.0.1.5", to: "10.0.1.9" },
    "passes: leaves to the node 192.0.2.2; continue with the trace there",
  ],
  ["an unused address", { from: "10.0.1.5", to: "10.0.1.77" }, "stops: stops: no NIC of the VPC has 10.0.1.77"],
  [
    "the internet by NAT",
    { from: "10.0.2.6", to: "198.51.100.1" },
    "passes: leaves by the NAT gateway on the node 192.0.2.3",
  ],
  [
    "the internet by a floating IP",
    { from: "10.0.1.5", to: "198.51.100.1" },
    "passes: leaves by the floating IP 203.0.113.7",
  ],
  [
    "the metadata service",
    { from: "10.0.1.5", to: "169.254.169.254", rules: [deny] },
    "passes: arrives: the router answers it itself",
  ],
  [
    "an outbound denial",
    { from: "10.0.1.5", to: "10.0.2.6", rules: [deny] },
    "stops: stops: the firewall rule r1 denies it, outbound",
  ],
  [
    "a stranger to a floating IP",
    { from: "198.51.100.1", to: "203.0.113.7" },
    "stops: stops: the default without a matching rule denies it, inbound",
  ],
  [
    "a route inside a subnet",
    { from: "10.0.2.6", to: "10.0.1.5", routes: [blackhole] },
    "stops: stops: the route to 10.0.1.0/24 is a blackhole",
  ],
  [
    "a stopped VM",
    { from: "10.0.2.6", to: "10.0.1.5", taps: [a4] },
    "stops: stops: the tap of a1 is not in the router; its VM does not run",
  ],
])("%s", (_, given, end) => {
  expect(traced(given)).toBe(end);
});

test("the route decides through which NAT gateway of a node a packet leaves, even if the packet comes from another node", () => {
  const plain = documentOf({ vni: 4_096, machines: [a1, a2, a4], rules: [], edge: "n1", routes: [] }, "n1");
  const to = (destination: string, nat_gateway_id: string): DocumentRoute => (
    { destination, target: { kind: "nat_gateway", underlay_address: NODES.n1, nat_gateway_id } }
  );
  const routes = [to("0.0.0.0/0", "first"), to("198.51.100.0/24", "second")];
  const document = {
    ...plain,
    subnets: plain.subnets.map((subnet) => ({ ...subnet, routes })),
    nat_gateways: [
      { nat_gateway_id: "first", public_address: "203.0.113.2" },
      { nat_gateway_id: "second", public_address: "203.0.113.3" },
    ],
  };
  const taps = new Set([a1, a4].map(({ mac }) => tapName(mac)));
  const sourceOf = (from: string, to: string) =>
    trace({ document, taps, underlay_address: NODES.n1, from, to, port: 443 }).next;
  for (const from of [a4.ipv4!, a2.ipv4!]) {
    expect(sourceOf(from, "192.0.2.99")).toEqual({ kind: "outside", source: "203.0.113.2" });
    expect(sourceOf(from, "198.51.100.1")).toEqual({ kind: "outside", source: "203.0.113.3" });
  }
});
