// Tests the further addresses and allowed blocks of a NIC with real packets. If an address is not allowed, the node
// drops packets that the guest sends from the address. If an address is allowed, the VPC delivers packets in both
// directions.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lacking } from "../support/optional-programs.ts";
import { documentOf, machine, NODE_NAMES, type NodeName, NODES, type TestVpc } from "./documents.ts";
import { METADATA_IPV4, METADATA_IPV6 } from "../../nodeagent/network/names.ts";
import { type NetworkSite, openNetworkSite } from "./site.ts";

const missing = lacking("ip", "nft", "unshare", "nsenter", "conntrack", "python3", "ping");

const guest = machine("a1", "n1", { net: 1, host: 5, vpc: "a" });
const far = machine("a2", "n2", { net: 1, host: 6, vpc: "a" });
const near = machine("a3", "n1", { net: 2, host: 6, vpc: "a" });
const BLOCKS = ["10.0.7.0/24", "10.0.1.77/32", "fd00:a:7::/64", "10.0.2.0/28", "10.0.2.6/32", "fd00:a:2::/120"];
/** Connects to port 80 of a server from a source address, and prints the answer. Prints nothing without an answer. */
const ANSWER = `
import socket, sys
try:
    peer = socket.create_connection((sys.argv[1], 80), timeout=2, source_address=(sys.argv[2], 0))
    print(peer.makefile().read())
except OSError:
    pass
`;
const vpcWith = (blocks: readonly string[]): TestVpc => ({
  vni: 4_096,
  machines: [{ ...guest, blocks: [...blocks] }, far, near],
  rules: [],
  edge: null,
  routes: [],
});

describe.skipIf(missing !== null)("the blocks of a NIC", () => {
  let site: NetworkSite;
  let drivers: Readonly<Record<NodeName, ReturnType<NetworkSite["driver"]>>>;

  async function apply(blocks: readonly string[]): Promise<void> {
    for (const node of ["n1", "n2"] as const) await drivers[node].apply(documentOf(vpcWith(blocks), node));
  }
  beforeAll(async () => {
    site = await openNetworkSite();
    drivers = Object.fromEntries(NODE_NAMES.map((node) => [node, site.driver(node)])) as typeof drivers;
    await apply([]);
    for (const node of ["n1", "n2"] as const) {
      await drivers[node].acceptSenders({ nodes: Object.values(NODES), vpcs: [] });
    }
    for (const each of vpcWith([]).machines) await site.plug(each.node, documentOf(vpcWith([]), each.node), each);
    await apply([]);
    // The guest has these addresses from the start, so only the network decides whether packets pass.
    for (const address of ["10.0.7.9/32", "10.0.1.77/32", "10.0.8.9/32", "fd00:a:7::9/128"]) {
      const added = await site.inMachine("a1", "ip", "addr", "add", address, "dev", "lo", "nodad");
      if (added.code !== 0) await site.inMachine("a1", "ip", "addr", "add", address, "dev", "lo");
    }
  });
  afterAll(() => site?.close());

  const pings = async (from: string, to: string, source?: string) => {
    const bound = source === undefined ? [] : ["-I", source];
    return (await site.inMachine(from, "ping", "-c", "4", "-i", "0.3", "-W", "1", ...bound, to)).code === 0;
  };

  test("a NIC without blocks has only its own addresses", async () => {
    expect(await pings("a1", "10.0.1.6")).toBe(true);
    for (const address of ["10.0.7.9", "10.0.1.77"]) {
      expect(await pings("a1", "10.0.1.6", address)).toBe(false);
      expect(await pings("a2", address)).toBe(false);
    }
  });

  test("both nodes reach an address of a block, and the guest can send from this address", async () => {
    await apply(BLOCKS);
    for (const from of ["a2", "a3"]) {
      expect(await pings(from, "10.0.7.9"), `${from} to the block`).toBe(true);
      expect(await pings(from, "10.0.1.77"), `${from} to the further address`).toBe(true);
      expect(await pings(from, "fd00:a:7::9"), `${from} to the IPv6 block`).toBe(true);
    }
    expect(await pings("a1", "10.0.1.6", "10.0.7.9")).toBe(true);
    expect(await pings("a1", "fd00:a:1::6", "fd00:a:7::9")).toBe(true);
  });

  test("a guest cannot send from an address outside its blocks; a NIC gets packets to its own address even inside another block", async () => {
    expect(await pings("a1", "10.0.1.6", "10.0.8.9")).toBe(false);
    // 10.0.2.6 of a3 is inside the block 10.0.2.0/28 of a1.
    expect(await pings("a2", "10.0.2.6")).toBe(true);
    await site.inMachine("a1", "ip", "addr", "add", "10.0.2.6/32", "dev", "lo");
    expect(await pings("a1", "10.0.1.6", "10.0.2.6")).toBe(false);
    await site.inMachine("a1", "ip", "addr", "del", "10.0.2.6/32", "dev", "lo");
  });

  test("an address of a stopped NIC, inside another NIC's block, works again only when the stopped NIC starts", async () => {
    const document = documentOf(vpcWith(BLOCKS), "n1");
    await apply(BLOCKS);
    await site.serve("n1-4096", 80, "metadata for");
    const [from4, from6] = ["10.0.2.6", "fd00:a:2::6"];
    for (const address of [`${from4}/32`, `${from6}/128`]) {
      const added = await site.inMachine("a1", "ip", "addr", "add", address, "dev", "lo");
      expect(added.code).toBe(0);
    }
    const answers = () =>
      Promise.all(
        [[METADATA_IPV4, from4], [METADATA_IPV6, from6]].map(async ([server, source]) =>
          (await site.inMachine("a1", "python3", "-c", ANSWER, server!, source!)).out.trim()
        ),
      );
    expect(await answers(), "while it runs").toEqual(["", ""]);
    await site.run(["ip", "netns", "del", "vm-a3"]);
    await drivers.n1.removeTap(4_096, near.mac);
    expect(await answers(), "before the document is applied again").toEqual(["", ""]);
    await drivers.n1.apply(document);
    expect(await answers(), "after the document is applied again").toEqual(["", ""]);
    expect(await drivers.n1.apply(document)).toEqual({ changes: 0, ruleset_replaced: false });
    for (const address of [from4, from6]) expect(await pings("a2", address), "a1 takes no packets").toBe(false);

    await site.plug("n1", document, near);
    await drivers.n1.apply(document);
    for (const address of [from4, from6]) expect(await pings("a2", address), "a3 runs again").toBe(true);
    await site.inMachine("a1", "ip", "addr", "flush", "dev", "lo", "to", `${from4}/32`);
    await site.inMachine("a1", "ip", "-6", "addr", "del", `${from6}/128`, "dev", "lo");
  });

  test("a second apply of a router with blocks changes nothing, and a removed block stops working at once", async () => {
    const again = await drivers.n1.apply(documentOf(vpcWith(BLOCKS), "n1"));
    expect([again.changes, again.ruleset_replaced]).toEqual([0, false]);
    await apply([]);
    expect(await pings("a2", "10.0.7.9")).toBe(false);
    expect(await pings("a1", "10.0.1.6", "10.0.7.9")).toBe(false);
    expect(await pings("a1", "10.0.1.6")).toBe(true);
  });
});
