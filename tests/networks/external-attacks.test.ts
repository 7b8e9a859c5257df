// Tests attacks by a host on the external network: packets with sources of the VPC, and packets to addresses of the VPC
// that a floating IP hides. No frame of an attack arrives.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lacking } from "../support/optional-programs.ts";
import { documentOf, EXTERNAL_GATEWAY, machine, rule, type TestVpc } from "./documents.ts";
import { sender } from "./frames.ts";
import { type NetworkSite, openNetworkSite } from "./site.ts";

const missing = lacking("ip", "nft", "unshare", "nsenter", "conntrack", "arping", "python3");

const FLOATING = { ipv4: "203.0.113.7", ipv6: "2001:db8::7" } as const;
const victim = {
  ...machine("a1", "n1", { net: 1, host: 5, vpc: "a" }),
  floating_ips: [FLOATING.ipv4, FLOATING.ipv6],
};
const CLOSED: TestVpc = { vni: 4_096, machines: [victim], rules: [], edge: null, routes: [] };
const allow = rule({ direction: "inbound", action: "allow" });
const OPEN: TestVpc = { ...CLOSED, rules: [allow] };

describe.skipIf(missing !== null)("a host on the external network", () => {
  let site: NetworkSite;
  let own_mac: string;
  let router_mac: string;
  let port = 1_000;

  beforeAll(async () => {
    site = await openNetworkSite();
    await apply(CLOSED);
    await site.plug("n1", documentOf(CLOSED, "n1"), victim);
    await apply(CLOSED);
    const macOf = async (namespace: string, device: string): Promise<string> =>
      JSON.parse(await site.run(["ip", "-n", namespace, "-j", "link", "show", "dev", device]))[0].address;
    [own_mac, router_mac] = [await macOf("inet", "eth0"), await macOf("n1-4096", "xt")];
  });
  afterAll(() => site?.close());

  const apply = (vpc: TestVpc) => site.driver("n1").apply(documentOf(vpc, "n1"));
  /** Counts the frames that arrive at the victim. Each call is a new connection. */
  const arrived = (source: string, destination: string) => {
    port += 1;
    const [type, header] = source.includes(":") ? ["0x86dd", "ip6"] : ["0x800", "ip"];
    const frame = `send(router, me, ${type}, ${header}("${source}", "${destination}", 17, udp(${port}, 9999)))`;
    return site.countMarked("vm-a1", async () => {
      const sent = await site.onInternet("python3", "-c", sender({ ...victim, mac: own_mac }, router_mac, frame));
      expect(sent.err).toBe("");
    });
  };

  test.each([
    ["the VPC's IPv4 block", "10.0.1.9", FLOATING.ipv4],
    ["the VPC's IPv6 block", "fd00:a:1::9", FLOATING.ipv6],
  ])("does not reach a floating IP from a source in %s, with and without a rule", async (_, source, destination) => {
    await apply(CLOSED);
    expect(await arrived(source, destination)).toBe(0);
    await apply(OPEN);
    expect(await arrived(source, destination)).toBe(0);
  });

  test.each([
    ["IPv4", "198.51.100.10", "10.0.1.5", FLOATING.ipv4],
    ["IPv6", "2001:db8:ffff::10", "fd00:a:1::5", FLOATING.ipv6],
    ["IPv4, as the external router", EXTERNAL_GATEWAY.ipv4, "10.0.1.5", FLOATING.ipv4],
  ])("reaches a NIC at its floating IP, but not at its address in the VPC: %s", async (_, source, inner, outer) => {
    await apply(OPEN);
    expect(await arrived(source, outer), "the floating IP").toBeGreaterThan(0);
    expect(await arrived(source, inner)).toBe(0);
    await apply(CLOSED);
    expect(await arrived(source, outer), "without a rule").toBe(0);
  });
});
