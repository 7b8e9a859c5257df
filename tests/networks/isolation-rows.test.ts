// Tests attacks that isolation.test.ts does not contain: the IPv6 form of each IPv4 attack, spanning tree, and a
// process that has broken out of a guest. No frame of an attack arrives.
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GATEWAY_MAC, METADATA_IPV6, routerMac } from "../../nodeagent/network/names.ts";
import { lacking } from "../support/optional-programs.ts";
import { documentOf, machine, NODE_NAMES, NODES, type TestVpc } from "./documents.ts";
import { foreignVxlan, MARK, sender } from "./frames.ts";
import { type NetworkSite, openNetworkSite } from "./site.ts";

const missing = lacking("ip", "nft", "unshare", "nsenter", "python3", "nc", "bash", "setpriv");
const is_root = process.getuid?.() === 0;

const attacker = machine("a1", "n1", { net: 1, host: 5, vpc: "a" });
const far = machine("a2", "n2", { net: 1, host: 6, vpc: "a" });
const near = machine("a4", "n1", { net: 2, host: 6, vpc: "a" });
const A: TestVpc = { vni: 4_096, machines: [attacker, far, near], rules: [], edge: null, routes: [] };
const ROUTER = "n1-4096";
const WATCHED_PORT = 9_999;
/** The user id of a QEMU process (VM_UIDS in ruleset.ts). */
const QEMU_UID = 200_001;

/** Opens a site in which VPC A is applied and its machines are plugged. */
async function openA(as_root = false): Promise<NetworkSite> {
  const site = await openNetworkSite({ as_root });
  const drivers = new Map(NODE_NAMES.map((node) => [node, site.driver(node)]));
  const apply = async () => {
    for (const node of ["n1", "n2"] as const) {
      await drivers.get(node)!.apply(documentOf(A, node));
      await drivers.get(node)!.acceptSenders({ nodes: Object.values(NODES), vpcs: [] });
    }
  };
  await apply();
  for (const each of A.machines) await site.plug(each.node, documentOf(A, each.node), each);
  await apply();
  return site;
}

describe.skipIf(missing !== null)("a tenant's machine", () => {
  let site: NetworkSite;
  beforeAll(async () => {
    site = await openA();
  });
  afterAll(() => site?.close());

  const arrived = (victim: string, statements: string) =>
    site.countMarked(`vm-${victim}`, async () => {
      const sent = await site.inMachine("a1", "python3", "-c", sender(attacker, GATEWAY_MAC, statements));
      expect(sent.err).toBe("");
    });
  /** A neighbour advertisement that claims the address for the attacker. */
  const claims = (address: string, to: string) =>
    `send(${to}, me, 0x86dd, ip6("${attacker.ipv6}", "${near.ipv6}", 58, b"\\x88\\0\\0\\0\\x20\\0\\0\\0" + v6("${address}") + b"\\2\\1" + me + MARK, 255))`;

  test("reaches its neighbour by IPv6, so the attacks below do not fail for another reason", async () => {
    const own = `send(router, me, 0x86dd, ip6("${attacker.ipv6}", "${near.ipv6}", 17, udp(9, ${WATCHED_PORT})))`;
    expect(await arrived("a4", own)).toBeGreaterThan(0);
  });

  test.each([
    ["neighbour advertisements of the gateway", claims("fe80::1", `mac("${near.mac}")`)],
    ["neighbour advertisements of a neighbour", claims(far.ipv6!, "ALL")],
    [
      "IPv6 multicast",
      `send(mac("33:33:00:00:00:01"), me, 0x86dd, ip6("${attacker.ipv6}", "ff02::1", 17, udp(9, 9999)))
      send(mac("33:33:00:00:00:fb"), me, 0x86dd, ip6("${attacker.ipv6}", "ff05::fb", 17, udp(9, 9999)))`,
    ],
    [
      "an IPv6 frame to a neighbour's MAC",
      `send(mac("${near.mac}"), me, 0x86dd, ip6("${attacker.ipv6}", "fd00:a:1::99", 17, udp(9, 9999)))`,
    ],
    [
      "the source address of the IPv6 metadata service",
      `send(router, me, 0x86dd, ip6("${METADATA_IPV6}", "${near.ipv6}", 17, udp(80, 9999)))`,
    ],
    [
      "the link-local address of its gateway",
      `send(router, me, 0x86dd, ip6("fe80::1", "${near.ipv6}", 17, udp(9, 9999)))`,
    ],
    [
      "a DHCPv6 request as a server, to all clients",
      `send(mac("33:33:00:01:00:02"), me, 0x86dd, ip6("fe80::ff:fe01:a05", "ff02::1:2", 17, udp(547, 546)))`,
    ],
    [
      "spanning tree",
      `frames.send(mac("01:80:c2:00:00:00") + me + b"\\0\\x26\\x42\\x42\\3" + MARK + bytes(23))`,
    ],
    [
      "VXLAN to its node by IPv6",
      `send(router, me, 0x86dd, ip6("${attacker.ipv6}", "${METADATA_IPV6}", 17, udp(9, 4789, b"\\x08\\0\\0\\0\\0\\x10\\0\\0")))`,
    ],
  ])("cannot reach a neighbour with %s", async (_, statements) => {
    expect(await arrived("a4", statements)).toBe(0);
  });

  test("cannot make the router forget where a neighbour is, by IPv6", async () => {
    await arrived("a4", claims(near.ipv6!, "router"));
    const neighbours = await site.run(["ip", "-n", ROUTER, "-6", "neigh", "show", near.ipv6!]);
    expect(neighbours).toContain(`lladdr ${near.mac} PERMANENT`);
  });

  test("cannot reach services of its router by IPv6", async () => {
    await site.serve(ROUTER, 2_222, "router");
    const asks = async (namespace: string) =>
      (await site.attempt(["ip", "netns", "exec", namespace, "nc", "-w", "1", METADATA_IPV6, "2222"])).out;
    expect(await asks(ROUTER), "the service answers its own namespace").toContain("router");
    expect(await asks("vm-a1")).toBe("");
  });

  test("gets no IPv6 packet from a host on the underlay that is not a node", async () => {
    await site.run(["ip", "-n", "fabric", "addr", "replace", "192.0.2.66/24", "dev", "br0"]);
    const attack = async () => {
      const program = foreignVxlan({
        ...{ vni: A.vni, node: NODES.n1, source: far.ipv6!, destination: attacker.ipv6! },
        ...{ from_router: routerMac(NODES.n2), to_router: routerMac(NODES.n1) },
      });
      expect((await site.attempt(["ip", "netns", "exec", "fabric", "python3", "-c", program])).err).toBe("");
    };
    expect(await site.countMarked("vm-a1", attack)).toBe(0);
    await site.driver("n1").acceptSenders({ nodes: [...Object.values(NODES), "192.0.2.66"], vpcs: [] });
    expect(await site.countMarked("vm-a1", attack), "the attack itself works").toBeGreaterThan(0);
  });
});

// The user namespace of a site has only one user. These tests need a second user, so they run as root without this
// namespace.
describe.skipIf(missing !== null || !is_root)("a process that has broken out of QEMU", () => {
  let site: NetworkSite;
  beforeAll(async () => {
    site = await openA(true);
  });
  afterAll(() => site?.close());

  test.each([["IPv4", attacker.ipv4!], ["IPv6", attacker.ipv6!]])("cannot send from a router by %s", async (_, to) => {
    // The command succeeds even if the kernel refuses to send.
    const send = ["bash", "-c", `echo ${MARK} > /dev/udp/${to}/${WATCHED_PORT} || true`];
    const sends = (...as_user: readonly string[]) =>
      site.countMarked("vm-a1", () => site.run(["ip", "netns", "exec", ROUTER, ...as_user, ...send]));
    expect(await sends(), "root's packet arrives").toBeGreaterThan(0);
    expect(await sends("setpriv", `--reuid=${QEMU_UID}`, `--regid=${QEMU_UID}`, "--clear-groups")).toBe(0);
  });
});
