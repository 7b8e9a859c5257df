// Tests the state of a VPC's router that a document requires, and the commands that establish this state.
import { describe, expect, test } from "vitest";
import { changesOf } from "../../../nodeagent/network/changes.ts";
import { MAIN_TABLE } from "../../../nodeagent/network/kernel-route.ts";
import { routerAddress, routerMac, tapName } from "../../../nodeagent/network/names.ts";
import { FAMILIES, isOwnTable, type RouterState, wantedState } from "../../../nodeagent/network/router-state.ts";
import { rulesetOf } from "../../../nodeagent/network/ruleset.ts";
import { documentOf, type Machine, machine, NODES, rule, type TestVpc } from "../../networks/documents.ts";

const VPC: TestVpc = {
  vni: 4_096,
  machines: [
    { ...machine("a1", "n1", { net: 1, host: 5, vpc: "a" }), floating_ips: ["203.0.113.7", "2001:db8::7"] },
    {
      ...machine("a2", "n1", { net: 2, host: 6, vpc: "a" }),
      connections_max: 1_000,
      packets_per_second_max: 5_000,
      bytes_per_second_max: 12_500_000,
    },
    machine("a3", "n2", { net: 2, host: 5, vpc: "a" }),
  ],
  rules: [rule({ rule_id: "rule-1", direction: "inbound", action: "allow", protocol: "tcp" })],
  edge: "n3",
  routes: [{ destination: "10.0.1.0/24", target: { kind: "blackhole" } }],
};
const NOTHING: RouterState = {
  families: {
    4: { addresses: [], neighbours: [], rules: [], routes: [] },
    6: { addresses: [], neighbours: [], rules: [], routes: [] },
  },
  nodes: [],
};
const tapsOn = (vpc: TestVpc) => new Set(vpc.machines.map(({ mac }) => tapName(mac)));
const wanted = (vpc = VPC, node: keyof typeof NODES = "n1", taps: ReadonlySet<string> = tapsOn(vpc)) =>
  wantedState(documentOf(vpc, node), NODES[node], taps);

test("a router's addresses are derived from the underlay address", () => {
  expect(routerMac("192.0.2.17")).toBe("02:be:c0:00:02:11");
  expect(routerAddress("192.0.2.17")).toBe("fe80::be:c000:211");
  expect(() => routerMac("fd00::1")).toThrow("fd00::1 is not an IPv4 address of an underlay");
});

test("the commands and the ruleset of a new router match the snapshot", () => {
  expect(changesOf(NOTHING, wanted())).toMatchSnapshot();
  expect(rulesetOf(documentOf(VPC, "n1"), tapsOn(VPC))).toMatchSnapshot();
});

test("a floating IP of a family in which its NIC has no address is not translated", () => {
  const document = documentOf(VPC, "n1");
  const local_nics = document.local_nics.map((nic) => ({ ...nic, ipv6: null }));
  const ruleset = rulesetOf({ ...document, local_nics }, tapsOn(VPC));
  expect(ruleset).toContain("203.0.113.7");
  expect(ruleset).not.toMatch(/2001:db8::7|null/);
});

test("the commands of a new router with NAT gateways match the snapshot", () => {
  expect(changesOf(NOTHING, wanted(VPC, "n3"))).toMatchSnapshot();
});

test("if a router already has the required state, no command is needed", () => {
  for (const node of ["n1", "n2", "n3"] as const) {
    expect(changesOf(wanted(VPC, node), wanted(VPC, node))).toEqual({
      ip: { 4: [], 6: [] },
      bridge: [],
      announced: [],
    });
  }
});

test("the commands for a removed VPC delete everything that the commands for an added VPC create", () => {
  const added = changesOf(NOTHING, wanted());
  const removed = changesOf(wanted(), NOTHING);
  for (const family of FAMILIES) {
    expect(removed.ip[family].every((line) => / del /.test(` ${line}`))).toBe(true);
    expect(removed.ip[family]).toHaveLength(added.ip[family].length);
  }
  expect(removed.announced).toEqual([]);
});

test("a NIC whose tap does not exist has no address, no route to a tap, and no chain", () => {
  const without = new Set([tapName(VPC.machines[1]!.mac)]);
  const text = JSON.stringify(wanted(VPC, "n1", without)) + rulesetOf(documentOf(VPC, "n1"), without);
  expect(text).not.toContain(tapName(VPC.machines[0]!.mac));
  expect(text).toContain(tapName(VPC.machines[1]!.mac));
});

test("the address of a NIC without a tap is unreachable, even if the block of another NIC contains it", () => {
  const [a1, a2, a3] = VPC.machines as [Machine, Machine, Machine];
  const blocks = ["10.0.2.0/28", "10.0.2.6/32", "fd00:a:2::/120", "fd00:a:2::6/128"];
  const vpc = { ...VPC, machines: [{ ...a1, blocks }, a2, a3] };
  const without = new Set([tapName(a1.mac)]);
  for (const [family, address] of [[4, "10.0.2.6"], [6, "fd00:a:2::6"]] as const) {
    const hopsOf = (state: RouterState) =>
      state.families[family].routes.filter(({ table, destination }) => table === MAIN_TABLE && destination === address)
        .map(({ hop, is_fallback = false }) => [hop.kind, is_fallback]);
    expect(hopsOf(wanted(vpc, "n1", without))).toEqual([["unreachable", true]]);
    expect(hopsOf(wanted(vpc)), "with the tap").toEqual([["unreachable", true], ["device", false]]);
    expect(changesOf(wanted(vpc, "n1", without), wanted(vpc)).ip[family], "the start").toContainEqual(
      expect.stringMatching(new RegExp(`^route replace ${address} dev ${tapName(a2.mac)} .*proto static$`)),
    );
    const arriving = { ...vpc, machines: [vpc.machines[0]!, { ...a2, arriving: true }, a3] };
    expect(hopsOf(wanted(arriving)), "arriving").toEqual([]);
    const left = { ...vpc, machines: [vpc.machines[0]!, { ...a2, node: "n2" as const }, a3] };
    expect(changesOf(wanted(vpc), wanted(left)).ip[family].filter((line) => line.includes(` ${address} `))).toEqual([
      expect.stringMatching(/^route replace .* via inet6 /),
      expect.stringMatching(/^route del .* metric 9999 /),
      expect.stringMatching(/^neigh del /),
    ]);
  }
});

test("a further address of a NIC leads to this NIC, even if another NIC's allowed block is exactly this address", () => {
  const addresses = ["10.0.1.9", "fd00:a:1::9"];
  const blocks = ["10.0.1.9/32", "fd00:a:1::9/128"];
  const owner = { ...machine("a1", "n1", { net: 1, host: 5, vpc: "a" }), blocks, addresses };
  const other = { ...machine("a2", "n2", { net: 1, host: 6, vpc: "a" }), blocks };
  const hopsOf = (vpc: TestVpc, node: keyof typeof NODES, family: 4 | 6, taps = tapsOn(vpc)) =>
    wanted(vpc, node, taps).families[family].routes
      .filter(({ destination, is_fallback }) => addresses.includes(destination) && is_fallback !== true)
      .map(({ hop }) => hop);
  // If the block had the same rank as the address, the last of two NICs on one node would get the route.
  for (const node of ["n1", "n2"] as const) {
    const vpc = { ...VPC, machines: [owner, { ...other, node }] };
    for (const family of FAMILIES) {
      const gateway = family === 4 ? owner.ipv4 : owner.ipv6;
      const to_owner = { kind: "gateway", gateway, device: tapName(owner.mac) };
      expect(hopsOf(vpc, "n1", family)).toEqual([to_owner]);
      const to_n1 = { kind: "gateway", gateway: routerAddress(NODES.n1), device: "vx" };
      expect(hopsOf(vpc, "n3", family)).toEqual([to_n1]);
      if (node === "n2") expect(hopsOf(vpc, "n2", family)).toEqual([to_n1]);
      expect(hopsOf(vpc, "n1", family, new Set([tapName(other.mac)])), "while the owner is stopped").toEqual([]);
    }
  }
});

describe("the longest prefix wins across all tables", () => {
  const routesTo = (destination: string, family: 4 | 6 = 4) =>
    wanted().families[family].routes.filter((route) => route.destination === destination);

  test("a route whose destination is inside a subnet is looked up before the routes to the VPC's NICs", () => {
    const [route] = routesTo("10.0.1.0/24");
    const lookup = wanted().families[4].rules.find(({ table }) => table === route?.table);
    expect(route?.hop).toEqual({ kind: "blackhole" });
    // The rule that looks up the main table has priority 300 (overlay-device.ts).
    expect(lookup?.priority).toBeLessThan(300);
    expect(lookup?.from).toBe("10.0.2.0/24");
  });

  test("the default route is looked up after the routes to NICs, and never used for the VPC's own blocks", () => {
    const tables = new Set(routesTo("default").map(({ table }) => table));
    for (const block of routesTo("10.0.0.0/16")) {
      expect(block.hop).toEqual({ kind: "unreachable" });
      expect(tables).toContain(block.table);
    }
    const lookups = wanted().families[4].rules.filter(({ table }) => tables.has(table));
    expect(lookups.every(({ priority }) => priority > 300)).toBe(true);
  });

  test("a tenant's route to a whole block replaces the unreachable route that protects the block", () => {
    const vpc = { ...VPC, routes: [{ destination: "10.0.0.0/16", target: { kind: "blackhole" as const } }] };
    const { rules, routes } = wanted(vpc).families[4];
    const otherTable = rules.find(({ priority, from }) => priority === 500 && from === "10.0.2.0/24")?.table;
    const hops = routes
      .filter(({ destination, table }) => destination === "10.0.0.0/16" && table === otherTable)
      .map(({ hop }) => hop.kind);
    expect(hops).toEqual(["blackhole"]);
  });
});

test("with 10,000 subnets, all routing tables have different numbers, which the agent recognizes as its own", () => {
  const document = documentOf(VPC, "n1");
  const subnets = Array.from({ length: 10_000 }, (_, n) => ({
    ...document.subnets[0]!,
    subnet_id: `s${n}`,
    ipv4_block: `10.${n >> 8}.${n & 255}.0/24`,
    ipv6_block: null,
    routes: [],
  }));
  const { rules } = wantedState({ ...document, subnets }, NODES.n1, tapsOn(VPC)).families[4];
  const [public_rule] = rules.filter(({ priority }) => priority === 400);
  const tables = rules.filter(({ priority }) => priority !== 400).map(({ table }) => table);
  expect(tables).toHaveLength(2 * subnets.length);
  expect(new Set([...tables, public_rule!.table]).size).toBe(tables.length + 1);
  expect(tables.filter((table) => !isOwnTable(table)), "tables that the agent would not read").toEqual([]);
});

test("packets to a machine that moved go to its new node", () => {
  const moved = {
    ...VPC,
    machines: VPC.machines.map((each) => each.nic_id === "a3" ? { ...each, node: "n3" as const } : each),
  };
  const { ip } = changesOf(wanted(VPC, "n1"), wanted(moved, "n1"));
  const target = `via inet6 ${routerAddress(NODES.n3)} dev vx onlink table 254 proto static`;
  expect(ip[4]).toEqual([`route replace 10.0.2.5 ${target}`]);
});

test("a public IPv4 address is announced once, when the router gets it; the kernel announces IPv6", () => {
  const before = { ...VPC, machines: VPC.machines.map((each) => ({ ...each, floating_ips: [] })) };
  expect(changesOf(wanted(before), wanted()).announced).toEqual(["203.0.113.7"]);
  expect(changesOf(wanted(), wanted(before)).announced).toEqual([]);
});
