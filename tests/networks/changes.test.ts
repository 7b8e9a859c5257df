// Applies newer documents to a router that the same driver created. A small change must start only a few programs, and
// after every change the router must be the same as after a full comparison.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type KernelNetwork, kernelNetwork } from "../../nodeagent/network/kernel.ts";
import {
  NIC_BYTES_PER_SECOND_MAX,
  NIC_CONNECTIONS_MAX,
  NIC_PACKETS_PER_SECOND_MAX,
} from "../../src/contract/limits.ts";
import type { DocumentRule, NetworkDocument } from "../../src/contract/network-document.ts";
import { openDocumentStore } from "../../nodeagent/network/document-store.ts";
import { createNodeNetwork } from "../../nodeagent/network/node-network.ts";
import { lacking } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { documentOf, machine, NODES, rule, type TestVpc } from "./documents.ts";
import { type NetworkSite, openNetworkSite } from "./site.ts";

const missing = lacking("ip", "nft", "unshare", "nsenter", "conntrack", "arping", "ping");

const [near, far, later] = [
  machine("a1", "n1", { net: 1, host: 5, vpc: "a" }),
  machine("a2", "n2", { net: 1, host: 6, vpc: "a" }),
  machine("a3", "n3", { net: 2, host: 7, vpc: "a" }),
];
const BASE: TestVpc = { vni: 4_096, machines: [near, far], rules: [], edge: null, routes: [] };
const ROUTER = "n1-4096";
/** A change of a rule may start three programs: they read the counters, replace the rules and read the connections. */
const PROGRAMS_PER_RULE_MAX = 3;
/** One more program replaces the table of forbidden connections if that table changed. */
const PROGRAMS_PER_DENY_MAX = PROGRAMS_PER_RULE_MAX + 1;

const deny = (fields: Partial<DocumentRule> = {}) => rule({ direction: "inbound", action: "deny", ...fields });

describe.skipIf(missing !== null)("a newer document", () => {
  let site: NetworkSite;
  let driver: KernelNetwork;
  let programs: string[] = [];

  beforeAll(async () => {
    site = await openNetworkSite();
    const counting: typeof site.run = (argv, input) => {
      programs.push(argv.join(" "));
      return site.run(argv, input);
    };
    driver = kernelNetwork({ host_namespace: "n1", prefix: "n1-", underlay_address: NODES.n1 }, counting);
    await driver.apply(documentOf(BASE, "n1"));
    await site.plug("n1", documentOf(BASE, "n1"), near);
    await site.driver("n2").apply(documentOf(BASE, "n2"));
    await site.plug("n2", documentOf(BASE, "n2"), far);
    await site.driver("n2").apply(documentOf(BASE, "n2"));
  });
  afterAll(() => site?.close());
  beforeEach(async () => {
    await driver.apply(documentOf(BASE, "n1"));
    programs = [];
  });

  const change = (document: NetworkDocument) => driver.apply(document, new Map(), { trusts_last: true });
  const pings = async () => (await site.inMachine("a2", "ping", "-c", "1", "-W", "1", near.ipv4!)).code === 0;

  test("a changed rule is in force after at most three programs", async () => {
    const changing = rule({ direction: "inbound", action: "allow", protocol: "icmp4", priority: 300 });
    const rules = [deny({ priority: 200 }), changing];
    await change(documentOf({ ...BASE, rules }, "n1", 2));
    expect(await pings()).toBe(true);
    // Removes the connection of earlier pings, because a rule that denies an open connection starts one more program.
    await site.run(["ip", "netns", "exec", ROUTER, "conntrack", "-F"]);
    for (
      const [generation, fields, passes] of [
        [3, { priority: 100 }, false],
        [4, { priority: 201 }, true],
      ] as const
    ) {
      programs = [];
      await change(documentOf({ ...BASE, rules: [rules[0]!, { ...changing, ...fields }] }, "n1", generation));
      expect(programs.length, programs.join("\n")).toBeLessThanOrEqual(PROGRAMS_PER_RULE_MAX);
      expect(await pings(), JSON.stringify(fields)).toBe(passes);
    }
  });

  test("a rule that denies an open connection starts at most one more program, and is in force", async () => {
    expect(await pings()).toBe(true);
    programs = [];
    await change(documentOf({ ...BASE, rules: [deny()] }, "n1", 2));
    expect(programs.length, programs.join("\n")).toBeLessThanOrEqual(PROGRAMS_PER_DENY_MAX);
    expect(await pings()).toBe(false);
  });

  test("the table of forbidden connections is restored after another program deleted it", async () => {
    expect(await pings()).toBe(true);
    const closed = documentOf({ ...BASE, rules: [deny()] }, "n1", 2);
    await change(closed);
    const nft = (...words: readonly string[]) => site.run(["ip", "netns", "exec", ROUTER, "nft", ...words]);
    const listed = () => nft("-s", "list", "table", "inet", "berth_forbidden");
    const before = await listed();
    await nft("delete", "table", "inet", "berth_forbidden");
    expect(await driver.apply(closed)).toMatchObject({ ruleset_replaced: true });
    expect(await listed()).toBe(before);
    await change(documentOf(BASE, "n1", 3));
    expect(await nft("list", "tables"), "without a forbidden connection there is no table").not.toContain("forbidden");
  });

  test("an equal document starts no program", async () => {
    await change(documentOf(BASE, "n1", 2));
    expect(programs).toEqual([]);
  });

  /** `programs_max` limits the programs of a change and of its reversal. `answers`: a ping works after the change. */
  test.each<[string, { vpc: TestVpc; programs_max: number; answers: boolean }]>([
    ["rules", {
      vpc: { ...BASE, rules: [deny(), deny({ protocol: "tcp", destination_ports: { low: 1, high: 9 } })] },
      programs_max: PROGRAMS_PER_DENY_MAX,
      answers: false,
    }],
    ["a NIC on another node", {
      vpc: { ...BASE, machines: [near, far, later] },
      programs_max: 3,
      answers: true,
    }],
    ["a NIC that left another node", {
      vpc: { ...BASE, machines: [near] },
      programs_max: 3,
      answers: false,
    }],
    ["a NIC that moved between other nodes", {
      vpc: { ...BASE, machines: [near, { ...far, node: "n3" }] },
      programs_max: 3,
      answers: false,
    }],
    ["routes", {
      vpc: { ...BASE, routes: [{ destination: "198.51.100.0/24", target: { kind: "reject" } }] },
      programs_max: 1,
      answers: true,
    }],
    ["a NAT gateway on another node", {
      vpc: { ...BASE, edge: "n3" },
      programs_max: 3,
      answers: true,
    }],
    ["limits of a NIC", {
      vpc: { ...BASE, machines: [{ ...near, connections_max: 7, packets_per_second_max: 50 }, far] },
      programs_max: 3,
      answers: true,
    }],
  ])(
    "after a change of %s, and after its reversal, packets obey the new document, and a full comparison finds nothing to change",
    async (_, { vpc, programs_max, answers }) => {
      for (
        const [document, answers_now] of [
          [documentOf(vpc, "n1", 2), answers],
          [documentOf(BASE, "n1", 3), true],
        ] as const
      ) {
        programs = [];
        const { changes, ruleset_replaced } = await change(document);
        expect(changes + Number(ruleset_replaced), "something changed").toBeGreaterThan(0);
        expect(programs.length, programs.join("\n")).toBeLessThanOrEqual(programs_max);
        expect(await pings(), `generation ${document.generation}`).toBe(answers_now);
        expect(await driver.apply(document)).toEqual({ changes: 0, ruleset_replaced: false });
        // A new driver, which does not know the router yet, finds nothing to change either.
        expect(await site.driver("n1").apply(document)).toMatchObject({ changes: 0 });
        await driver.apply(document);
      }
    },
  );

  test("a floating IP, which needs an additional device, is applied by a full comparison", async () => {
    const with_address = documentOf({ ...BASE, machines: [{ ...near, floating_ips: ["203.0.113.7"] }, far] }, "n1", 2);
    await change(with_address);
    expect(await site.run(["ip", "-n", ROUTER, "addr", "show", "dev", "xt"])).toContain("203.0.113.7/32");
    expect(await driver.apply(with_address)).toEqual({ changes: 0, ruleset_replaced: false });
  });

  test("a change repairs the router if another program removed something that the change depends on", async () => {
    await site.run(["ip", "-n", ROUTER, "route", "del", far.ipv4!]);
    await change(documentOf({ ...BASE, machines: [near] }, "n1", 2));
    expect(await driver.apply(documentOf({ ...BASE, machines: [near] }, "n1", 2))).toMatchObject({ changes: 0 });
  });

  test.each([
    [
      "the largest limits that the setting accepts",
      NIC_CONNECTIONS_MAX,
      NIC_PACKETS_PER_SECOND_MAX,
      NIC_BYTES_PER_SECOND_MAX,
    ],
    ["larger limits, which earlier servers accepted", 10_000_000_000, 1e15, 20_000_000_000],
  ])("a NIC may have %s", async (_, connections_max, packets_per_second_max, bytes_per_second_max) => {
    const limited = { ...near, connections_max, packets_per_second_max, bytes_per_second_max };
    await driver.apply(documentOf({ ...BASE, machines: [limited, far] }, "n1", 2));
    expect(await pings()).toBe(true);
  });

  test("the next full comparison repairs a difference that a change does not touch", async () => {
    await site.run(["ip", "netns", "exec", ROUTER, "nft", "flush", "chain", "inet", "berth", "rules_in"]);
    await site.run(["ip", "-n", ROUTER, "route", "del", far.ipv4!]);
    const moved = documentOf(
      { ...BASE, routes: [{ destination: "198.51.100.0/24", target: { kind: "reject" } }] },
      "n1",
      2,
    );
    await change(moved);
    const repaired = await driver.apply(moved);
    expect(repaired.changes).toBeGreaterThan(0);
    expect(repaired.ruleset_replaced).toBe(true);
    expect(await pings()).toBe(true);
  });

  test("an older document, a document of a newer format and a malformed document do not open a closed port", async () => {
    const folder = await temporaryFolder("older");
    const log: string[] = [];
    const open = async () => {
      const store = await openDocumentStore(folder.path, () => {});
      return createNodeNetwork({ driver, store, log: (line) => void log.push(line) });
    };
    const network = await open();
    await network.take(documentOf({ ...BASE, rules: [deny()] }, "n1", 7));
    expect(await pings()).toBe(false);
    const opened = (generation: number) => documentOf(BASE, "n1", generation);
    expect(await network.take(opened(6)), "the older document is ignored").toBeNull();
    expect(await network.take({ ...opened(8), format: 2 })).toMatchObject({ generation: 8, status: "failed" });
    expect(await network.take({ ...opened(8), mtu: "1450" })).toMatchObject({
      status: "failed",
      message: "the field mtu of the document is malformed",
    });
    expect(await pings()).toBe(false);
    expect(network.have(), "the next poll names generation 7, which is stored").toEqual({
      [opened(1).vpc_id]: 7,
    });
    const restarted = await open();
    await restarted.restore();
    expect(await restarted.take(opened(6)), "the older document is ignored after a restart").toBeNull();
    expect(await pings()).toBe(false);
    expect(await restarted.take({ ...opened(8), later: { any: 1 } }), "an unknown field is ignored").toMatchObject({
      generation: 8,
      status: "applied",
    });
    expect(await pings()).toBe(true);
    await folder.remove();
  });

  test("a router with 2,002 subnets and a floating IP equals its document after one application", async () => {
    const document = documentOf({ ...BASE, machines: [{ ...near, floating_ips: ["203.0.113.7"] }, far] }, "n1", 2);
    const more = Array.from({ length: 2_000 }, (_, n) => ({
      ...document.subnets[0]!,
      subnet_id: `more-${n}`,
      ipv4_block: `10.0.${16 + (n >> 4)}.${(n & 15) * 16}/28`,
      ipv6_block: null,
      gateway_ipv4: null,
      routes: [],
    }));
    const large = { ...document, subnets: [...document.subnets, ...more] };
    await driver.apply(large);
    expect(await site.driver("n1").apply(large)).toMatchObject({ changes: 0 });
  });

  test("the routing rules and routing tables that an agent of an earlier release made are removed", async () => {
    const inside = (...words: readonly string[]) => site.run(["ip", "-n", ROUTER, ...words]);
    const shown = async () => await inside("rule") + await inside("route", "show", "table", "all");
    const before = await shown();
    const tables = [[100, 1_001], [400, 7_000], [500, 5_001]] as const;
    for (const [priority, table] of tables) {
      await inside("rule", "add", "pref", `${priority}`, "from", "10.0.2.0/24", "lookup", `${table}`);
      await inside("route", "add", "blackhole", "10.0.0.0/16", "table", `${table}`, "proto", "static");
    }
    expect(await driver.apply(documentOf(BASE, "n1"))).toMatchObject({ changes: 2 * tables.length });
    expect(await shown()).toBe(before);
  });

  test("the counters of a rule survive a change of another rule", async () => {
    const kept = deny({ priority: 500, protocol: "icmp4" });
    await change(documentOf({ ...BASE, rules: [kept] }, "n1", 2));
    expect(await pings()).toBe(false);
    await change(documentOf({ ...BASE, rules: [kept, deny({ protocol: "tcp" })] }, "n1", 3));
    const counts = await driver.ruleCounts(BASE.vni);
    expect(counts.find(({ rule_id }) => rule_id === kept.rule_id)?.packets).toBe(1);
  });
});
