// Tests in the kernel that a NAT gateway stops by itself at the end of its lease, so that two nodes never run it at
// the same time.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KernelNetwork } from "../../nodeagent/network/kernel.ts";
import { lacking } from "../support/optional-programs.ts";
import {
  documentOf,
  EXTERNAL_GATEWAY,
  INTERNET_HOST,
  machine,
  NAT,
  NODE_NAMES,
  type NodeName,
  rule,
  type TestVpc,
} from "./documents.ts";
import { MARK } from "./frames.ts";
import { type NetworkSite, openNetworkSite } from "./site.ts";

const missing = lacking("ip", "nft", "unshare", "nsenter", "conntrack", "arping", "python3", "ping", "nc");

const FLOATING = { ipv4: "203.0.113.7", ipv6: "2001:db8::7" } as const;
const INTERNET_PORT = 8_000;
const FLOATING_PORT = 7_000;
/** A lease that does not end while a test runs. */
const LONG_S = 600;
/** A lease that ends soon, while a test waits for its end. */
const SHORT_S = 1;
/** A lease that a busy machine can renew before its end. */
const RENEWED_S = 8;
const ADDRESSES = [NAT.ipv4, NAT.ipv6];

const VPC: TestVpc = {
  vni: 4_096,
  machines: [
    machine("a1", "n1", { net: 1, host: 5, vpc: "a" }),
    // The node of the gateways also has a floating IP.
    {
      ...machine("a3", "n3", { net: 1, host: 7, vpc: "a" }),
      floating_ips: [FLOATING.ipv4, FLOATING.ipv6],
    },
  ],
  rules: [rule({ direction: "inbound", action: "allow", protocol: "tcp" })],
  edge: "n3",
  routes: [],
};
/** A second VPC. The node of its gateway has no other public address. */
const ALONE: TestVpc = {
  vni: 4_097,
  machines: [machine("b1", "n2", { net: 1, host: 5, vpc: "b" })],
  rules: [],
  edge: "n2",
  routes: [],
};

describe.skipIf(missing !== null)("the lease of a NAT gateway", () => {
  let site: NetworkSite;
  let drivers: Record<NodeName, KernelNetwork>;

  beforeAll(async () => {
    site = await openNetworkSite();
    // These drivers only apply documents, like an agent whose control plane does not answer.
    const driver = (node: NodeName) => site.driver(node, null);
    drivers = { n1: driver("n1"), n2: driver("n2"), n3: driver("n3") };
    for (const node of ["n1", "n3"] as const) await drivers[node].apply(documentOf(VPC, node));
    for (const each of VPC.machines) await site.plug(each.node, documentOf(VPC, each.node), each);
    for (const node of ["n1", "n3"] as const) await drivers[node].apply(documentOf(VPC, node));
    await site.serve("inet", INTERNET_PORT, "internet");
    await site.serve("vm-a3", FLOATING_PORT, "I am a3");
  });
  afterAll(() => site?.close());

  const asks = async (from: string, to: string) =>
    (await site.inMachine(from, "nc", "-w", "1", to, String(INTERNET_PORT))).out.trim();
  const asksAll = async (
    from: string,
  ) => [await asks(from, INTERNET_HOST.ipv4), await asks(from, EXTERNAL_GATEWAY.ipv6)];
  const asksFloating = async () =>
    (await site.onInternet("nc", "-w", "1", FLOATING.ipv4, String(FLOATING_PORT))).out.trim();
  const held = async (node: NodeName, vni = VPC.vni) => {
    const shown = await site.run(["ip", "-n", `${node}-${vni}`, "addr", "show", "dev", "xt"]);
    return ADDRESSES.filter((address) => shown.includes(`${address}/`));
  };
  /** Returns the addresses of the gateways for which a host of the external network finds a MAC. */
  const resolved = async () => {
    await site.onInternet("ip", "neigh", "flush", "dev", "eth0");
    await site.onInternet("ping", "-c", "1", "-W", "1", NAT.ipv4);
    await site.onInternet("ping", "-c", "1", "-W", "1", NAT.ipv6);
    const shown = (await site.onInternet("ip", "neigh", "show", "dev", "eth0")).out;
    return ADDRESSES.filter((address) => shown.includes(`${address} lladdr`));
  };
  const datagrams = () =>
    site.countMarked("inet", () => site.inMachine("a1", "python3", "-c", DATAGRAMS, INTERNET_HOST.ipv4));
  const worksWith = [`internet ${NAT.ipv4}`, `internet ${NAT.ipv6}`];

  test("without a lease, as after a boot, a gateway does not begin to run", async () => {
    expect(await held("n3")).toEqual([]);
    expect(await resolved()).toEqual([]);
    expect(await asksAll("a1")).toEqual(["", ""]);
  });

  test("a gateway stops at the end of its lease although no agent runs, and floating IPs stay", async () => {
    await drivers.n3.holdGateways(VPC.vni, ADDRESSES, LONG_S);
    expect(await asksAll("a1")).toEqual(worksWith);
    expect(await resolved()).toEqual(ADDRESSES);
    expect(await datagrams()).toBe(10);
    await drivers.n3.holdGateways(VPC.vni, ADDRESSES, SHORT_S);
    await expect.poll(() => held("n3"), { timeout: 10_000 }).toEqual([]);
    expect(await asksAll("a1")).toEqual(["", ""]);
    expect(await resolved()).toEqual([]);
    expect(await datagrams(), "datagrams of a connection that the gateway has translated").toBe(0);
    expect(await asksFloating(), "the floating IP").toBe(`I am a3 ${EXTERNAL_GATEWAY.ipv4}`);
  });

  test("the next node runs the gateway, and packets of the first node do not disturb it", async () => {
    await drivers.n3.holdGateways(VPC.vni, ADDRESSES, SHORT_S);
    await expect.poll(() => held("n3"), { timeout: 10_000 }).toEqual([]);
    const next = { ...VPC, edge: "n1" as const };
    await drivers.n1.apply(documentOf(next, "n1"));
    await drivers.n1.holdGateways(VPC.vni, ADDRESSES, LONG_S);
    // Node n3 is cut off and keeps its old document, in which n3 is the node of the gateways.
    await site.run(["ip", "-n", "n3-4096", "neigh", "flush", "dev", "xt"]);
    expect(await asksFloating()).toBe(`I am a3 ${EXTERNAL_GATEWAY.ipv4}`);
    expect(await asksAll("a1")).toEqual(worksWith);
    await drivers.n1.apply(documentOf(VPC, "n1"));
    expect(await resolved(), "a document without the gateway ends the lease at once").toEqual([]);
  });

  test("a restarted agent leaves the lease as it is, and a renewal extends the lease", async () => {
    await drivers.n3.holdGateways(VPC.vni, ADDRESSES, RENEWED_S);
    const restarted = site.driver("n3", null);
    expect(await restarted.apply(documentOf(VPC, "n3"))).toMatchObject({ changes: 0 });
    expect(await held("n3")).toEqual(ADDRESSES);
    await restarted.holdGateways(VPC.vni, ADDRESSES, LONG_S);
    await new Promise((wake) => setTimeout(wake, (RENEWED_S + 1) * 1_000));
    expect(await asksAll("a1")).toEqual(worksWith);
  });

  test("an address that an agent of an earlier release added gets a lifetime, and a floating IP does not", async () => {
    await site.run(["ip", "-n", "n3-4096", "addr", "change", `${NAT.ipv4}/32`, "dev", "xt"]);
    const shown = () => site.run(["ip", "-n", "n3-4096", "-4", "addr", "show", "dev", "xt"]);
    const lineOf = async (address: string) => (await shown()).split("inet ").find((each) => each.startsWith(address));
    expect(await lineOf(NAT.ipv4)).toContain("valid_lft forever");
    await drivers.n3.apply(documentOf(VPC, "n3"));
    expect(await lineOf(NAT.ipv4)).toMatch(/valid_lft \d+sec/);
    expect(await lineOf(FLOATING.ipv4)).toContain("valid_lft forever");
    // The gateway's address becomes a floating IP.
    const machines = VPC.machines.map((each) => each.node === "n3" ? { ...each, floating_ips: [NAT.ipv4] } : each);
    await drivers.n3.apply(documentOf({ ...VPC, machines, edge: null }, "n3"));
    expect(await lineOf(NAT.ipv4)).toContain("valid_lft forever");
    for (const node of NODE_NAMES) await drivers[node].keepOnly(new Set());
  });

  test("after its lease has ended, a gateway runs again with a new lease, even if its node has no other public address", async () => {
    const document = documentOf(ALONE, "n2");
    await drivers.n2.apply(document);
    await site.plug("n2", document, ALONE.machines[0]!);
    await drivers.n2.apply(document);
    await drivers.n2.holdGateways(ALONE.vni, ADDRESSES, LONG_S);
    expect(await asksAll("b1")).toEqual(worksWith);
    await drivers.n2.holdGateways(ALONE.vni, ADDRESSES, SHORT_S);
    await expect.poll(() => held("n2", ALONE.vni), { timeout: 10_000 }).toEqual([]);
    await drivers.n2.apply(document);
    await drivers.n2.holdGateways(ALONE.vni, ADDRESSES, LONG_S);
    expect(await asksAll("b1")).toEqual(worksWith);
  });
});

/** Sends ten datagrams of one connection, with the mark of frames.ts. */
const DATAGRAMS = `
import socket, sys, time
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.bind(("", 5000))
for _ in range(10):
    sender.sendto(b"${MARK}", (sys.argv[1], 9))
    time.sleep(0.02)
`;
