// Sends real packets that are too large for an external network, or for a VPC. The sender must learn the MTU, in both
// families and also if another node runs the NAT gateway. The NIC tag has the MTU of the external network.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NetworkDocument } from "../../src/contract/network-document.ts";
import { lacking } from "../support/optional-programs.ts";
import {
  documentOf,
  EXTERNAL_GATEWAY,
  INTERNET_HOST,
  machine,
  type NodeName,
  rule,
  type TestVpc,
} from "./documents.ts";
import { type NetworkSite, openNetworkSite, type Outcome } from "./site.ts";

const missing = lacking("ip", "nft", "unshare", "nsenter", "conntrack", "arping", "python3", "ping");

const FLOATING = { ipv4: "203.0.113.7", ipv6: "2001:db8::7" } as const;
const VPC: TestVpc = {
  vni: 4_096,
  machines: [
    machine("m1", "n1", { net: 1, host: 5, vpc: "a" }),
    { ...machine("m2", "n1", { net: 1, host: 7, vpc: "a" }), floating_ips: [FLOATING.ipv4, FLOATING.ipv6] },
    machine("m3", "n2", { net: 1, host: 6, vpc: "a" }),
  ],
  rules: [rule({ direction: "inbound", action: "allow" })],
  edge: "n1",
  routes: [],
};
/** Smaller than the MTU of the VPC, 1,450. */
const EXTERNAL_MTU = 1_400;
/** The bytes of echo data in a packet of 1,448 bytes, which fits into the VPC but not into the external network. */
const LARGE = { 4: 1_420, 6: 1_400 } as const;
/** The bytes of echo data in a packet of 1,500 bytes. */
const FULL = { 4: 1_472, 6: 1_452 } as const;

function document(node: NodeName, mtu: number | null): NetworkDocument {
  const plain = documentOf(VPC, node);
  return { ...plain, external: plain.external && { ...plain.external, mtu } };
}

describe.skipIf(missing !== null)("the path MTU", () => {
  let site: NetworkSite;

  const apply = (node: NodeName, mtu: number | null) => site.driver(node).apply(document(node, mtu));
  beforeAll(async () => {
    site = await openNetworkSite();
    for (const node of ["n1", "n2"] as const) {
      await apply(node, EXTERNAL_MTU);
      for (const each of VPC.machines.filter((each) => each.node === node)) {
        await site.plug(node, document(node, EXTERNAL_MTU), each);
      }
      await apply(node, EXTERNAL_MTU);
    }
  });
  afterAll(() => site?.close());

  /** Returns whether an answer arrived, and the MTU that the sender learned. */
  const result = ({ code, out }: Outcome) => {
    const learned = /(?:Frag needed and DF set \(mtu = |Packet too big: mtu=)(\d+)/.exec(out)?.[1];
    return { answered: code === 0, learned: learned === undefined ? null : Number(learned) };
  };
  const echo = (to: string, sizes: { readonly 4: number; readonly 6: number }) => [
    ...["ping", "-M", "do", "-c", "1", "-W", "1", "-s", String(sizes[to.includes(":") ? 6 : 4]), to],
  ];

  test.each([
    ["of the node with the gateway", "m1", INTERNET_HOST.ipv4],
    ["of the node with the gateway, by IPv6", "m1", INTERNET_HOST.ipv6],
    ["with a floating IP", "m2", INTERNET_HOST.ipv4],
    ["with a floating IP, by IPv6", "m2", INTERNET_HOST.ipv6],
    ["of another node", "m3", INTERNET_HOST.ipv4],
    ["of another node, by IPv6", "m3", INTERNET_HOST.ipv6],
  ])("of the external network is learned by a guest %s", async (_, from, to) => {
    expect(result(await site.inMachine(from, ...echo(to, LARGE)))).toEqual({ answered: false, learned: EXTERNAL_MTU });
  });

  test("a document of an older server, without an MTU, sets the MTU of Ethernet", async () => {
    const size = async () => JSON.parse(await site.run(["ip", "-n", "n1-4096", "-j", "link", "show", "xt"]))[0].mtu;
    expect(await size()).toBe(EXTERNAL_MTU);
    await apply("n1", null);
    expect(await size()).toBe(1_500);
  });

  test.each([
    ["IPv4", FLOATING.ipv4, INTERNET_HOST.ipv4],
    ["IPv6", FLOATING.ipv6, EXTERNAL_GATEWAY.ipv6],
  ])("of the VPC is learned by a client of a floating IP, by %s", async (_, to, from) => {
    const sent = await site.onInternet(...echo(to, FULL), "-I", from);
    expect(result(sent)).toEqual({ answered: false, learned: document("n1", null).mtu });
  });

  test("a guest on another node learns that a packet's TTL ended at the gateway", async () => {
    const { out } = await site.inMachine("m3", "ping", "-c", "1", "-W", "1", "-t", "2", INTERNET_HOST.ipv4);
    expect(out).toContain("Time to live exceeded");
  });

  test("a host outside gets no ICMP error when a TTL ends at a router, or when a guest is off", async () => {
    const NO_ANSWER = "1 packets transmitted, 0 received, 100% packet loss";
    const outside = async (address: string, ...words: readonly string[]) =>
      (await site.onInternet("ping", "-c", "1", "-W", "5", ...words, address)).out;
    for (const address of Object.values(FLOATING)) {
      expect(await outside(address)).toContain("1 received");
      expect(await outside(address, "-t", "1")).toContain(NO_ANSWER);
    }
    await site.inMachine("m2", "ip", "link", "del", "eth0");
    for (const address of Object.values(FLOATING)) expect(await outside(address)).toContain(NO_ANSWER);
  });
});
