// Tests that one guest cannot fill the neighbour table of its node, which all VPCs share.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GATEWAY_MAC, tapName } from "../../nodeagent/network/names.ts";
import type { KernelNetwork } from "../../nodeagent/network/kernel.ts";
import { lacking } from "../support/optional-programs.ts";
import { documentOf, machine, type TestVpc } from "./documents.ts";
import { sender } from "./frames.ts";
import { type NetworkSite, openNetworkSite } from "./site.ts";

const missing = lacking("ip", "nft", "unshare", "nsenter", "conntrack", "python3", "ping");

/** The attacker may also use a block of 4,096 addresses in each family. */
const attacker = {
  ...machine("a1", "n1", { net: 1, host: 5, vpc: "a" }),
  blocks: ["10.0.16.0/20", "fd00:a:9::/116"],
};
const VPC: TestVpc = { vni: 4_096, machines: [attacker], rules: [], edge: null, routes: [] };
const LINK_LOCALS_MAX = 8;
const OF_BLOCKS_MAX = 256;
const FRAMES = 700;

describe.skipIf(missing !== null)("a guest with many addresses", () => {
  let site: NetworkSite;
  let driver: KernelNetwork;

  beforeAll(async () => {
    site = await openNetworkSite();
    driver = site.driver("n1");
    await driver.apply(documentOf(VPC, "n1"));
    await site.plug("n1", documentOf(VPC, "n1"), attacker);
    await driver.apply(documentOf(VPC, "n1"));
  });
  afterAll(() => site?.close());

  /** Returns the addresses that the router has learned from the guest. */
  async function learned(): Promise<readonly string[]> {
    const printed = await site.run(["ip", "-n", "n1-4096", "-j", "neigh", "show", "dev", tapName(attacker.mac)]);
    const all = JSON.parse(printed) as { readonly dst: string; readonly state: readonly string[] }[];
    return all.filter(({ state }) => !state.includes("PERMANENT")).map(({ dst }) => dst);
  }
  async function send(frame: string): Promise<void> {
    const statements = `for n in range(1, ${FRAMES}): ${frame}`;
    const sent = await site.inMachine("a1", "python3", "-c", sender(attacker, GATEWAY_MAC, statements));
    expect(sent.err).toBe("");
  }
  /** A neighbour solicitation for the router. The router learns the source address of the solicitation. */
  const solicits = (source: string) =>
    `body = bytes(4) + v6("fe80::1") + b"\\1\\1" + me
source = ${source}
pseudo = v6(source) + v6("fe80::1") + struct.pack("!IHBB", 4 + len(body), 0, 0, 58)
send(router, me, 0x86dd, ip6(source, "fe80::1", 58, b"\\x87\\0" + struct.pack("!H", checksum(pseudo + b"\\x87\\0\\0\\0" + body)) + body, 255))`
      .split("\n").join("; ");

  test("occupies at most 8 entries of the neighbour table with link-local addresses, and keeps its first entries", async () => {
    const pings = async () => (await site.inMachine("a1", "ping", "-c", "1", "-W", "1", "fe80::1%eth0")).code === 0;
    expect(await pings()).toBe(true);
    await send(solicits('"fe80::bad:%x" % n'));
    const found = (await learned()).filter((address) => address.startsWith("fe80:"));
    expect(found.length, "the router learned several of the addresses").toBeGreaterThan(2);
    expect(found.length).toBeLessThanOrEqual(LINK_LOCALS_MAX);
    expect(await pings()).toBe(true);
  });

  test("occupies at most 256 entries of each family with addresses of its blocks", async () => {
    await send(solicits('"fd00:a:9::%x" % n'));
    await send(
      'send(ALL, me, 0x806, struct.pack("!HHBBH", 1, 0x800, 6, 4, 1) + me + v4("10.0.%d.%d" % (16 + n // 250, n % 250)) + bytes(6) + v4("10.0.1.1"))',
    );
    const found = await learned();
    for (const prefix of ["fd00:a:9:", "10.0."]) {
      const own = found.filter((address) => address.startsWith(prefix));
      expect(own.length, prefix).toBeGreaterThan(100);
      expect(own.length, prefix).toBeLessThanOrEqual(OF_BLOCKS_MAX);
    }
  });

  test("does not make the ruleset differ from the document", async () => {
    expect(await driver.apply(documentOf(VPC, "n1"))).toEqual({ changes: 0, ruleset_replaced: false });
  });
});
