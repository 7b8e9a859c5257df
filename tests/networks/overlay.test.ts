// Tests the overlay network in the kernel with real packets. Network namespaces on three nodes are the machines.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DocumentRule, NetworkDocument } from "../../src/contract/network-document.ts";
import { lacking } from "../support/optional-programs.ts";
import {
  documentOf,
  EXTERNAL_GATEWAY,
  INTERNET_HOST,
  machine,
  NAT,
  NODE_NAMES,
  type NodeName,
  NODES,
  rule,
  type TestVpc,
} from "./documents.ts";
import { type NetworkSite, openNetworkSite } from "./site.ts";

const missing = lacking("ip", "nft", "unshare", "nsenter", "conntrack", "arping", "python3", "ping", "nc");

/** VPC A has machines on two nodes and its NAT gateways on the third. VPC B has equal addresses and no gateway. */
const A: TestVpc = {
  vni: 4_096,
  machines: [
    machine("a1", "n1", { net: 1, host: 5, vpc: "a" }),
    machine("a2", "n2", { net: 1, host: 6, vpc: "a" }),
    machine("a3", "n2", { net: 2, host: 5, vpc: "a" }),
    machine("a4", "n1", { net: 2, host: 6, vpc: "a" }),
  ],
  rules: [],
  edge: "n3",
  routes: [],
};
const B: TestVpc = {
  vni: 4_097,
  machines: [
    machine("b1", "n1", { net: 1, host: 5, vpc: "b" }),
    machine("b2", "n2", { net: 1, host: 6, vpc: "b" }),
  ],
  rules: [],
  edge: null,
  routes: [],
};
const FLOATING = { ipv4: "203.0.113.7", ipv6: "2001:db8::7" } as const;
const SERVICE_PORT = 7_000;
const INTERNET_PORT = 8_000;

describe.skipIf(missing !== null)("the overlay network", () => {
  let site: NetworkSite;
  let drivers: Record<keyof typeof NODES, ReturnType<NetworkSite["driver"]>>;
  let vpcA = A;

  beforeAll(async () => {
    site = await openNetworkSite();
    drivers = { n1: site.driver("n1"), n2: site.driver("n2"), n3: site.driver("n3") };
    await applyAll(A);
    await applyAll(B);
    for (const vpc of [A, B]) {
      for (const each of vpc.machines) await site.plug(each.node, documentOf(vpc, each.node), each);
    }
    await applyAll(A);
    await applyAll(B);
    for (const name of ["a1", "a2", "b2"]) await site.serve(`vm-${name}`, SERVICE_PORT, `I am ${name}`);
    await site.serve("inet", INTERNET_PORT, "internet");
  });
  afterAll(() => site?.close());

  async function applyAll(vpc: TestVpc): Promise<void> {
    for (const node of NODE_NAMES) {
      const document = documentOf(vpc, node);
      const concerned = document.local_nics.length > 0 || document.nat_gateways.length > 0;
      if (concerned) await drivers[node].apply(document);
    }
  }
  async function withA(change: Partial<TestVpc>): Promise<void> {
    vpcA = { ...vpcA, ...change };
    await applyAll(vpcA);
  }
  async function linksWith(address: string): Promise<readonly string[]> {
    const links: { ifname: string; addr_info: { local: string }[] }[] = JSON.parse(
      await site.run(["ip", "-n", "n2", "-j", "addr"]),
    );
    return links.filter(({ addr_info }) => addr_info.some(({ local }) => local === address)).map((link) => link.ifname);
  }
  const pings = async (from: string, to: string) =>
    (await site.inMachine(from, "ping", "-c", "1", "-W", "1", to)).code === 0;
  const asks = async (from: string, to: string, port = SERVICE_PORT) =>
    (await site.inMachine(from, "nc", "-w", "1", to, String(port))).out.trim();
  const asksFromInternet = async (to: string, source: string) =>
    (await site.onInternet("nc", "-s", source, "-w", "1", to, String(SERVICE_PORT))).out.trim();

  test.each([
    ["in one subnet, across nodes", "a1", "10.0.1.6"],
    ["between subnets, across nodes", "a1", "10.0.2.5"],
    ["between subnets, on one node", "a1", "10.0.2.6"],
    ["in one subnet by IPv6", "a1", "fd00:a:1::6"],
    ["between subnets by IPv6", "a1", "fd00:a:2::5"],
    ["at the gateway", "a1", "10.0.1.1"],
    ["at the IPv6 gateway", "a1", "fe80::1%eth0"],
  ])("a packet arrives %s", async (_, from, to) => {
    expect(await pings(from, to)).toBe(true);
  });

  test.each([
    ["an address of the VPC that no NIC has", "a1", "10.0.1.77"],
    ["an address that only another VPC has", "b1", "10.0.2.5"],
    ["the internet, from a VPC without a gateway", "b1", INTERNET_HOST.ipv4],
    ["the sender's node on the underlay", "a1", NODES.n1],
    ["another node on the underlay", "a1", NODES.n2],
  ])("a packet does not reach %s", async (_, from, to) => {
    expect(await pings(from, to)).toBe(false);
  });

  test("two VPCs with equal addresses each reach their own machine", async () => {
    expect(await asks("a1", "10.0.1.6")).toBe("I am a2 10.0.1.5");
    expect(await asks("b1", "10.0.1.6")).toBe("I am b2 10.0.1.5");
  });

  test("a NAT gateway sends with its public address, in both families", async () => {
    expect(await asks("a1", INTERNET_HOST.ipv4, INTERNET_PORT)).toBe(`internet ${NAT.ipv4}`);
    expect(await asks("a3", INTERNET_HOST.ipv4, INTERNET_PORT)).toBe(`internet ${NAT.ipv4}`);
    expect(await asks("a1", EXTERNAL_GATEWAY.ipv6, INTERNET_PORT)).toBe(`internet ${NAT.ipv6}`);
    // Each gateway counts the connections that it translated. One call of `asks` may open several connections. The
    // other nodes have no counters.
    const counted = async (node: NodeName) =>
      (await drivers[node].ruleCounts(A.vni)).filter(({ rule_id }) => rule_id.startsWith("nat"))
        .map(({ rule_id, packets }) => ({ rule_id, packets }));
    const before = await counted("n3");
    expect(before.map(({ rule_id, packets }) => [rule_id, packets > 0])).toEqual([["nat4", true], ["nat6", true]]);
    expect(await counted("n1")).toEqual([]);
    await asks("a1", INTERNET_HOST.ipv4, INTERNET_PORT);
    const [nat4, nat6] = await counted("n3");
    expect([nat4!.packets > before[0]!.packets, nat6]).toEqual([true, before[1]]);
  });

  test("a port forward reaches a NIC on another node if a rule allows it, in both families", async () => {
    const forwarded = (node: NodeName): NetworkDocument => {
      const document = documentOf(vpcA, node);
      const to = (address: string | null) => [
        { protocol: "tcp" as const, public_port: 8_022, address: address!, port: SERVICE_PORT },
        { protocol: "udp" as const, public_port: 8_022, address: address!, port: 53 },
      ];
      const nat_gateways = document.nat_gateways.map((gateway) => {
        const { ipv4, ipv6 } = A.machines[0]!;
        return { ...gateway, port_forwards: to(gateway.public_address.includes(":") ? ipv6 : ipv4) };
      });
      return { ...document, nat_gateways };
    };
    const asksForwarded = async (to: string, source: string, port = 8_022) =>
      (await site.onInternet("nc", "-s", source, "-w", "1", to, String(port))).out.trim();
    await drivers.n3.apply(forwarded("n3"));
    expect(await asksForwarded(NAT.ipv4, INTERNET_HOST.ipv4), "no rule allows it").toBe("");
    const destination_ports = { low: SERVICE_PORT, high: SERVICE_PORT };
    await withA({ rules: [rule({ direction: "inbound", action: "allow", protocol: "tcp", destination_ports })] });
    await drivers.n3.apply(forwarded("n3"));
    expect(await asksForwarded(NAT.ipv4, INTERNET_HOST.ipv4)).toBe(`I am a1 ${INTERNET_HOST.ipv4}`);
    expect(await asksForwarded(NAT.ipv6, EXTERNAL_GATEWAY.ipv6)).toBe(`I am a1 ${EXTERNAL_GATEWAY.ipv6}`);
    expect(await asksForwarded(NAT.ipv4, INTERNET_HOST.ipv4, 8_023), "another port").toBe("");
    expect(await asks("a1", INTERNET_HOST.ipv4, INTERNET_PORT), "the machine still reaches the internet").toBe(
      `internet ${NAT.ipv4}`,
    );
    await withA({ rules: [] });
    expect(await asksForwarded(NAT.ipv4, INTERNET_HOST.ipv4), "without the forward").toBe("");
  });

  test("an unchanged document changes nothing", async () => {
    for (const node of NODE_NAMES) {
      expect(await drivers[node].apply(documentOf(vpcA, node)), node).toEqual({ changes: 0, ruleset_replaced: false });
    }
  });

  test("a floating IP translates in both directions, in both families", async () => {
    const machines = A.machines.map((each) =>
      each.nic_id === "a1" ? { ...each, floating_ips: [FLOATING.ipv4, FLOATING.ipv6] } : each
    );
    await withA({ machines });
    expect(await asksFromInternet(FLOATING.ipv4, INTERNET_HOST.ipv4), "no rule allows it").toBe("");
    const allow = (source_cidr: string): DocumentRule =>
      rule({
        ...{ direction: "inbound", action: "allow", protocol: "tcp", source_cidr },
        destination_ports: { low: SERVICE_PORT, high: SERVICE_PORT },
      });
    await withA({ rules: [allow("198.51.100.0/24"), allow(`${EXTERNAL_GATEWAY.ipv6}/128`)] });
    expect(await asksFromInternet(FLOATING.ipv4, INTERNET_HOST.ipv4)).toBe(`I am a1 ${INTERNET_HOST.ipv4}`);
    expect(await asksFromInternet(FLOATING.ipv4, EXTERNAL_GATEWAY.ipv4), "another source").toBe("");
    expect(await asksFromInternet(FLOATING.ipv6, EXTERNAL_GATEWAY.ipv6)).toBe(`I am a1 ${EXTERNAL_GATEWAY.ipv6}`);
    expect(await asks("a1", INTERNET_HOST.ipv4, INTERNET_PORT)).toBe(`internet ${FLOATING.ipv4}`);
    expect(await asks("a1", EXTERNAL_GATEWAY.ipv6, INTERNET_PORT)).toBe(`internet ${FLOATING.ipv6}`);
    const unused = await site.inMachine("a1", "ping", "-c", "1", "-W", "1", "10.0.2.77");
    expect(unused.out, "a packet to an unused address of the VPC does not leave").toMatch(/unreachable/i);
    await withA({ machines: A.machines, rules: [] });
    expect((await site.attempt(["ip", "-n", "n1-4096", "link", "show", "xt"])).code, "the device is gone").not.toBe(0);
  });

  test("after a floating IP moves to another node, the external router finds it at once, in both families", async () => {
    const at = (name: string) =>
      A.machines.map((each) => each.nic_id === name ? { ...each, floating_ips: [FLOATING.ipv4, FLOATING.ipv6] } : each);
    const rules = [rule({ direction: "inbound", action: "allow", protocol: "tcp" })];
    for (const name of ["a1", "a2", "a1"]) {
      await withA({ machines: at(name), rules });
      // The test asks only once. Without the new node's announcement, the router would send this packet to the old
      // node.
      expect(await asksFromInternet(FLOATING.ipv4, INTERNET_HOST.ipv4)).toBe(`I am ${name} ${INTERNET_HOST.ipv4}`);
      expect(await asksFromInternet(FLOATING.ipv6, EXTERNAL_GATEWAY.ipv6)).toBe(
        `I am ${name} ${EXTERNAL_GATEWAY.ipv6}`,
      );
    }
    await withA({ machines: A.machines, rules: [] });
  });

  test("rules deny by block, port range, protocol and ICMP type", async () => {
    await withA({
      rules: [
        rule({
          ...{ priority: 200, direction: "inbound", action: "deny", protocol: "tcp", source_cidr: "10.0.2.0/24" },
          destination_ports: { low: 7_000, high: 7_010 },
        }),
        rule({ direction: "inbound", action: "allow" }),
        rule({
          ...{ priority: 300, direction: "outbound", action: "deny", protocol: "tcp" },
          destination_cidr: `${INTERNET_HOST.ipv4}/32`,
          destination_ports: { low: INTERNET_PORT, high: INTERNET_PORT },
        }),
        rule({
          ...{ priority: 300, direction: "outbound", action: "deny", protocol: "icmp4" },
          ...{ destination_cidr: `${EXTERNAL_GATEWAY.ipv4}/32`, icmp_type_code: { type: 8, code: 0 } },
        }),
      ],
    });
    expect(await asks("a3", "10.0.1.5"), "denied, from another node").toBe("");
    expect(await asks("a4", "10.0.1.5"), "denied, on one node").toBe("");
    expect(await asks("a2", "10.0.1.5"), "another subnet").toBe("I am a1 10.0.1.6");
    expect(await asks("a2", INTERNET_HOST.ipv4, INTERNET_PORT), "denied port").toBe("");
    expect(await pings("a2", INTERNET_HOST.ipv4), "another protocol").toBe(true);
    expect(await pings("a2", EXTERNAL_GATEWAY.ipv4), "denied ICMP type").toBe(false);
    await withA({ rules: [] });
  });

  test("replies pass although all inbound packets are denied", async () => {
    await withA({ rules: [rule({ direction: "inbound", action: "deny" })] });
    expect(await pings("a1", INTERNET_HOST.ipv4)).toBe(true);
    expect(await pings("a2", "10.0.1.5")).toBe(false);
    await withA({ rules: [] });
  });

  test("a route drops or rejects packets, to destinations inside and outside the VPC", async () => {
    await withA({
      routes: [
        { destination: "10.0.1.0/24", target: { kind: "blackhole" } },
        { destination: "198.51.100.0/24", target: { kind: "reject" } },
      ],
    });
    expect(await pings("a3", "10.0.1.5"), "dropped").toBe(false);
    expect(await pings("a3", "10.0.2.6"), "its own subnet").toBe(true);
    const rejected = await site.inMachine("a3", "ping", "-c", "1", "-W", "1", INTERNET_HOST.ipv4);
    expect(rejected.out).toMatch(/unreachable/i);
    await withA({ routes: [] });
    expect(await pings("a3", "10.0.1.5")).toBe(true);
    expect(await pings("a3", INTERNET_HOST.ipv4)).toBe(true);
  });

  test.each(["inbound", "outbound"] as const)(
    "an %s deny rule interrupts exactly the open connections that it forbids, and these continue when the rule is removed",
    async (direction) => {
      // The rule applies to the NIC of the server if it is inbound, and to the NIC of the client if it is outbound.
      const [denied, kept] = direction === "inbound" ? [7_001, 7_002] : [7_003, 7_004];
      for (const port of [denied, kept]) await site.serveStream("a1", port);
      const streams = [denied, kept].map((port) =>
        site.inMachine("a2", "python3", "-c", STREAM, "10.0.1.5", String(port))
      );
      for (const port of [denied, kept]) {
        await expect.poll(() => site.run(["ip", "netns", "exec", "n1-4096", "conntrack", "-L", "-p", "tcp"]), {
          timeout: 20_000,
        }).toMatch(new RegExp(`ESTABLISHED .*dport=${port} `));
      }
      const destination_ports = { low: denied, high: denied };
      await withA({ rules: [rule({ direction, action: "deny", protocol: "tcp", destination_ports })] });
      await new Promise((wake) => setTimeout(wake, 700));
      await withA({ rules: [] });
      const [gap, none] = (await Promise.all(streams)).map(({ out }) => Number(out));
      expect(gap, "the longest silence of the denied stream, in ms").toBeGreaterThan(500);
      expect(none, "the longest silence of the other stream, in ms").toBeLessThan(400);
    },
  );

  test("the next application of the document repairs a router that another program has changed", async () => {
    await site.run(["ip", "-n", "n1-4096", "route", "del", "10.0.1.6"]);
    await site.run(["ip", "-n", "n1-4096", "route", "add", "10.9.9.9", "dev", "vx", "proto", "static"]);
    await site.run(["ip", "netns", "exec", "n1-4096", "nft", "flush", "chain", "inet", "berth", "rules_in"]);
    expect(await pings("a1", "10.0.1.6")).toBe(false);
    const applied = await drivers.n1.apply(documentOf(vpcA, "n1"));
    expect(applied.changes).toBeGreaterThan(0);
    expect(applied.ruleset_replaced).toBe(true);
    expect(await pings("a1", "10.0.1.6")).toBe(true);
    expect(await site.run(["ip", "-n", "n1-4096", "route"])).not.toContain("10.9.9.9");
  });

  test("a node uses the underlay address in its document, even after the address changes", async () => {
    const set = "192.0.2.12";
    const [device] = await linksWith(NODES.n2);
    await site.run(["ip", "-n", "n2", "addr", "add", `${set}/24`, "dev", device!]);
    const at = (node: NodeName): NetworkDocument =>
      JSON.parse(JSON.stringify(documentOf(vpcA, node, 2)).replaceAll(`"${NODES.n2}"`, `"${set}"`));
    await drivers.n1.apply(at("n1"));
    expect(await pings("a1", "10.0.1.6"), "n1 sends to the new address of n2, which n2 does not use yet").toBe(false);
    await drivers.n2.apply({ ...at("n2"), underlay_address: set }, new Map(), { trusts_last: true });
    expect(await pings("a1", "10.0.1.6")).toBe(true);
    expect(await pings("a1", "fd00:a:2::5")).toBe(true);
    await applyAll(vpcA);
    expect(await pings("a1", "10.0.1.6")).toBe(true);
  });

  test("nothing remains of a VPC that has left the node", async () => {
    expect(await drivers.n3.keepOnly(new Set())).toEqual([A.vni]);
    expect(await site.run(["ip", "netns", "list"])).not.toMatch(/^n3-/m);
    expect(await site.run(["ip", "-n", "n3", "-br", "link"])).not.toMatch(/^(x\d|vx)/m);
    expect(await pings("a1", INTERNET_HOST.ipv4)).toBe(false);
    await applyAll(vpcA);
    expect(await pings("a1", INTERNET_HOST.ipv4)).toBe(true);
  });
});

/** Sends a byte every 50 ms and expects it back, for 4 s. Prints the longest wait for an answer in milliseconds. */
const STREAM = `
import socket, sys, time
peer = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=3)
peer.settimeout(8)
longest, end = 0, time.monotonic() + 4
while time.monotonic() < end:
    begun = time.monotonic()
    peer.sendall(b"x")
    if not peer.recv(1): break
    longest = max(longest, time.monotonic() - begun)
    time.sleep(0.05)
print(int(longest * 1000))
`;
