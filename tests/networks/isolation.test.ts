// Tests attacks by a tenant's machine with raw frames, and by a foreign host on the underlay. No forged frame arrives.
// Of a flood, only the packets within the limits arrive.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GATEWAY_MAC, routerMac } from "../../nodeagent/network/names.ts";
import type { LocalNic } from "../../src/contract/network-document.ts";
import { lacking } from "../support/optional-programs.ts";
import { documentOf, machine, NODE_NAMES, NODES, type TestVpc } from "./documents.ts";
import { foreignVxlan, sender } from "./frames.ts";
import { type NetworkSite, openNetworkSite } from "./site.ts";

const missing = lacking("ip", "nft", "unshare", "nsenter", "python3", "nc", "setpriv");

const attacker = machine("a1", "n1", { net: 1, host: 5, vpc: "a" });
const far = machine("a2", "n2", { net: 1, host: 6, vpc: "a" });
const near = machine("a4", "n1", { net: 2, host: 6, vpc: "a" });
const other = machine("b1", "n1", { net: 1, host: 5, vpc: "b" });
const A: TestVpc = { vni: 4_096, machines: [attacker, far, near], rules: [], edge: null, routes: [] };
const B: TestVpc = { vni: 4_097, machines: [other], rules: [], edge: null, routes: [] };

describe.skipIf(missing !== null)("a tenant's machine", () => {
  let site: NetworkSite;

  beforeAll(async () => {
    site = await openNetworkSite();
    const drivers = NODE_NAMES.map((node) => ({ node, driver: site.driver(node) }));
    const apply = async () => {
      for (const { node, driver } of drivers) {
        for (const vpc of [A, B]) {
          const document = documentOf(vpc, node);
          if (document.local_nics.length > 0) await driver.apply(document);
        }
        await driver.acceptSenders({ nodes: Object.values(NODES), vpcs: [] });
      }
    };
    await apply();
    for (const vpc of [A, B]) {
      for (const each of vpc.machines) await site.plug(each.node, documentOf(vpc, each.node), each);
    }
    await apply();
  });
  afterAll(() => site?.close());

  /** Counts marked frames at a victim while the attacker sends. */
  const arrived = (victim: string, statements: string) =>
    site.countMarked(`vm-${victim}`, async () => {
      const sent = await site.inMachine("a1", "python3", "-c", sender(attacker, GATEWAY_MAC, statements));
      expect(sent.err).toBe("");
    });

  test("can send from its own addresses, in both families", async () => {
    const own = 'send(router, me, 0x800, ip("10.0.1.5", "10.0.1.6", 17, udp(9, 9999)))';
    expect(await arrived("a2", own)).toBeGreaterThan(0);
    const ownIpv6 = 'send(router, me, 0x86dd, ip6("fd00:a:1::5", "fd00:a:1::6", 17, udp(9, 9999)))';
    expect(await arrived("a2", ownIpv6)).toBeGreaterThan(0);
    expect(await arrived("a4", own.replace("10.0.1.6", "10.0.2.6"))).toBeGreaterThan(0);
  });

  test.each([
    ["another MAC", "a2", `send(router, mac("${near.mac}"), 0x800, ip("10.0.1.5", "10.0.1.6", 17, udp(9, 9999)))`],
    ["a neighbour's address", "a2", 'send(router, me, 0x800, ip("10.0.2.6", "10.0.1.6", 17, udp(9, 9999)))'],
    ["an address of the internet", "a2", 'send(router, me, 0x800, ip("8.8.8.8", "10.0.1.6", 17, udp(9, 9999)))'],
    [
      "a neighbour's IPv6 address",
      "a2",
      'send(router, me, 0x86dd, ip6("fd00:a:2::6", "fd00:a:1::6", 17, udp(9, 9999)))',
    ],
  ])("cannot send with %s as its source", async (_, victim, statements) => {
    expect(await arrived(victim, statements)).toBe(0);
  });

  test.each([
    [
      "ARP announcements of other addresses",
      `for address in ("10.0.2.6", "10.0.2.1", "10.0.1.1"): send(ALL, me, 0x806, struct.pack("!HHBBH", 1, 0x800, 6, 4, 2) + me + v4(address) + ALL + v4(address) + MARK)`,
    ],
    [
      "a DHCP offer to all",
      'send(ALL, me, 0x800, ip("10.0.1.5", "255.255.255.255", 17, udp(67, 68, b"\\x02" + bytes(299))))',
    ],
    [
      "a DHCP offer to a neighbour",
      'send(router, me, 0x800, ip("10.0.1.5", "10.0.2.6", 17, udp(67, 68, b"\\x02" + bytes(299))))',
    ],
    [
      "a DHCPv6 answer to a neighbour",
      'send(router, me, 0x86dd, ip6("fd00:a:1::5", "fd00:a:2::6", 17, udp(547, 546)))',
    ],
    [
      "a router advertisement",
      'send(mac("33:33:00:00:00:01"), me, 0x86dd, ip6("fe80::ff:fe01:a05", "ff02::1", 58, b"\\x86" + bytes(15) + MARK, 255))',
    ],
    [
      "broadcast and multicast",
      `send(ALL, me, 0x800, ip("10.0.1.5", "255.255.255.255", 17, udp(9, 9999)))
      send(mac("01:00:5e:00:00:fb"), me, 0x800, ip("10.0.1.5", "224.0.0.251", 17, udp(9, 9999)))
      send(ALL, me, 0x800, ip("10.0.1.5", "10.0.2.255", 17, udp(9, 9999)))`,
    ],
    [
      "a frame to a neighbour's MAC",
      `send(mac("${near.mac}"), me, 0x800, ip("10.0.1.5", "10.0.1.99", 17, udp(9, 9999)))`,
    ],
    [
      "frames with a VLAN tag, of LLDP and of another type",
      `send(ALL, me, 0x8100, b"\\0\\1\\x08\\0" + ip("10.0.1.5", "10.0.2.6", 17, udp(9, 9999)))
      send(mac("01:80:c2:00:00:0e"), me, 0x88cc, b"\\2\\7\\4x" + MARK)
      send(ALL, me, 0x88b5, MARK)`,
    ],
    [
      "a packet from an IPv4 link-local address",
      'send(router, me, 0x800, ip("169.254.169.254", "10.0.2.6", 17, udp(80, 9999)))',
    ],
  ])("cannot reach a neighbour with %s", async (_, statements) => {
    expect(await arrived("a4", statements)).toBe(0);
  });

  test("cannot make the router forget where a neighbour is", async () => {
    await arrived(
      "a4",
      'send(router, me, 0x806, struct.pack("!HHBBH", 1, 0x800, 6, 4, 2) + me + v4("10.0.2.6") + router + v4("10.0.2.1"))',
    );
    const neighbours = await site.run(["ip", "-n", "n1-4096", "neigh", "show", "10.0.2.6"]);
    expect(neighbours).toContain(`lladdr ${near.mac} PERMANENT`);
  });

  test("cannot reach services of the node or of its router", async () => {
    await site.serve("n1", 22, "node");
    await site.serve("n1-4096", 2_222, "router");
    const asks = async (namespace: string, to: string, port: number) =>
      (await site.attempt(["ip", "netns", "exec", namespace, "nc", "-w", "1", to, String(port)])).out;
    expect(await asks("n2", NODES.n1, 22), "the service answers others").toContain("node");
    expect(await asks("n1-4096", "10.0.1.1", 2_222), "the service answers its own namespace").toContain("router");
    for (const [to, port] of [[NODES.n1, 22], ["10.0.1.1", 2_222], ["169.254.169.254", 2_222]] as const) {
      expect(await asks("vm-a1", to, port), to).toBe("");
    }
    expect(await asks("vm-a1", "fe80::1%eth0", 2_222)).toBe("");
  });

  test("cannot send into another VPC through the tunnel's port", async () => {
    const inner = 'mac("02:00:00:01:0b:05") + me + b"\\x08\\0" + ip("10.0.1.6", "10.0.1.5", 17, udp(9, 9999))';
    const body = `b"\\x08\\0\\0\\0\\0\\x10\\x01\\0" + ${inner}`;
    expect(
      await arrived(
        "b1",
        `body = ${body}\nsend(router, me, 0x800, ip("10.0.1.5", "${NODES.n1}", 17, struct.pack("!HHHH", 9, 4789, 8 + len(body), 0) + body))`,
      ),
    ).toBe(0);
  });

  test("cannot open new connections above its limit", async () => {
    const limited = { ...A, machines: A.machines.map((each) => ({ ...each, connections_max: 10 })) };
    await site.driver("n1").apply(documentOf(limited, "n1"));
    const flood = Array.from(
      { length: 40 },
      (_, n) => `send(router, me, 0x800, ip("10.0.1.5", "10.0.2.6", 17, udp(${1_000 + n}, 9999)))`,
    ).join("\n");
    // The sender repeats its frames three times, each time with the same 40 connections.
    expect(await arrived("a4", flood)).toBeLessThanOrEqual(3 * 10);
    await site.driver("n1").apply(documentOf(A, "n1"));
  });

  test.each([
    ["sends", "a1"],
    ["receives", "a4"],
  ])("cannot exceed its limits of packets and bytes when it %s", async (_, limited) => {
    const with_limits = async (limits: Partial<LocalNic>) => {
      const machines = A.machines.map((each) => each.nic_id === limited ? { ...each, ...limits } : each);
      await site.driver("n1").apply(documentOf({ ...A, machines }, "n1"));
    };
    const rounds = 3;
    const sent = 1_000;
    const flood =
      `for _ in range(${sent}): send(router, me, 0x800, ip("10.0.1.5", "10.0.2.6", 17, udp(9, 9999, bytes(1_360))))`;
    /** Returns the number of frames that arrived, and an upper bound of the flood's duration in seconds. */
    const measure = async () => {
      const begun_ms = performance.now();
      const frames = await arrived("a4", flood);
      return { frames, seconds: (performance.now() - begun_ms) / 1_000 };
    };
    await with_limits({ packets_per_second_max: 100 });
    const packets = await measure();
    expect(packets.frames).toBeGreaterThan(0);
    expect(packets.frames).toBeLessThan(rounds * sent / 2);
    expect(packets.frames).toBeLessThanOrEqual(64 + 100 * packets.seconds);
    await with_limits({ bytes_per_second_max: 20_000 });
    const bytes = await measure();
    expect(bytes.frames).toBeGreaterThan(0);
    expect(bytes.frames).toBeLessThan(rounds * sent / 2);
    // The kernel's bucket for bytes has room for the burst and one second at the rate (net/netfilter/nft_limit.c).
    expect(bytes.frames * 1_400).toBeLessThanOrEqual(4 * 65_536 + 20_000 * (1 + bytes.seconds));
    await site.driver("n1").apply(documentOf(A, "n1"));
    expect(await arrived("a4", flood), "without limits").toBeGreaterThan(rounds * sent / 2);
  });

  test("gets no packet from a host on the underlay that is not a node", async () => {
    await site.run(["ip", "-n", "fabric", "addr", "replace", "192.0.2.66/24", "dev", "br0"]);
    const attack = async () => {
      const program = foreignVxlan({
        ...{ vni: A.vni, node: NODES.n1, source: "10.0.1.6", destination: "10.0.1.5" },
        ...{ from_router: routerMac(NODES.n2), to_router: routerMac(NODES.n1) },
      });
      const sent = await site.attempt(["ip", "netns", "exec", "fabric", "python3", "-c", program]);
      expect(sent.err).toBe("");
    };
    expect(await site.countMarked("vm-a1", attack)).toBe(0);
    // A frame from a listed address arrives, so the attack itself works.
    await site.driver("n1").acceptSenders({ nodes: [...Object.values(NODES), "192.0.2.66"], vpcs: [] });
    expect(await site.countMarked("vm-a1", attack)).toBeGreaterThan(0);
    await site.driver("n1").acceptSenders({ nodes: Object.values(NODES), vpcs: [] });
  });

  test("gets no packet from a node that has no part of the VPC, even if the node has a part of another VPC", async () => {
    const attack = async () => {
      const program = foreignVxlan({
        ...{ vni: A.vni, node: NODES.n1, source: "10.0.1.6", destination: "10.0.1.5" },
        ...{ from_router: routerMac(NODES.n2), to_router: routerMac(NODES.n1) },
      });
      expect((await site.attempt(["ip", "netns", "exec", "n3", "python3", "-c", program])).err).toBe("");
    };
    const nodes = Object.values(NODES);
    const of_b = { vni: B.vni, peers: [NODES.n3] };
    await site.driver("n1").acceptSenders({ nodes, vpcs: [{ vni: A.vni, peers: [NODES.n2] }, of_b] });
    expect(await site.countMarked("vm-a1", attack)).toBe(0);
    await site.driver("n1").acceptSenders({ nodes, vpcs: [{ vni: A.vni, peers: [NODES.n2, NODES.n3] }, of_b] });
    expect(await site.countMarked("vm-a1", attack), "the attack itself works").toBeGreaterThan(0);
    await site.driver("n1").acceptSenders({ nodes, vpcs: [] });
  });
});
