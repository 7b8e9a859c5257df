// Tests that the nftables text of a VPC's firewall decides about packets as docs/networking.md describes.
import { expect, test } from "vitest";
import { ruleLines } from "../../../nodeagent/network/firewall.ts";
import { firewallOf } from "../../../src/lib/net/firewall-verdict.ts";
import { rulesetOf } from "../../../nodeagent/network/ruleset.ts";
import type { DocumentRule } from "../../../src/contract/network-document.ts";
import { documentOf, rule } from "../../networks/documents.ts";
import { stream } from "../../simulator/chance.ts";
import { chainsOf, modelVerdict, type Packet, textVerdict } from "./packet-model.ts";

const RULE_SETS = 10_000;
const PACKETS_EACH = 10;

/** The blocks are few, so that rules often match packets. */
const CIDRS = {
  ipv4: ["0.0.0.0/0", "10.0.0.0/8", "10.0.1.0/24", "10.0.1.5/32", "198.51.100.0/24"],
  ipv6: ["::/0", "fd00:a::/32", "fd00:a:1::5/128", "2001:db8::/32"],
};
const ADDRESSES = {
  ipv4: ["10.0.1.5", "10.0.1.6", "10.9.0.1", "198.51.100.10", "203.0.113.1"],
  ipv6: ["fd00:a:1::5", "fd00:a:2::6", "2001:db8::1", "fe80::1"],
};
const PORTS = [0, 22, 80, 7_000, 65_535];

test(
  "for 100,000 packets and 10,000 random rule sets, the nftables text and the agent's trace decide like the model",
  () => {
    const random = randomFrom(20_261_122);
    const verdicts = { pass: 0, drop: 0 };
    for (let set = 0; set < RULE_SETS; set++) {
      const rules = Array.from({ length: random.below(9) }, () => randomRule(random));
      const document = documentOf({ vni: 4_096, machines: [], rules, edge: null, routes: [] }, "n1");
      const chains = chainsOf(rulesetOf(document, new Set()));
      for (let each = 0; each < PACKETS_EACH; each++) {
        const packet = randomPacket(random);
        const wanted = modelVerdict(document, packet);
        verdicts[wanted] += 1;
        const decided = textVerdict(chains, packet);
        if (decided !== wanted) expect.fail(`${decided}, not ${wanted}: ${JSON.stringify({ packet, rules })}`);
        const agent = firewallOf(document, packet.direction)(packet).is_allowed ? "pass" : "drop";
        if (agent !== wanted) expect.fail(`the agent: ${agent}, not ${wanted}: ${JSON.stringify({ packet, rules })}`);
      }
    }
    // Both verdicts are frequent, so that a text that always passes or always drops would be found.
    expect(verdicts.pass).toBeGreaterThan(20_000);
    expect(verdicts.drop).toBeGreaterThan(20_000);
  },
  60_000,
);

/** Returns a source of random values that depend only on the seed, so that a failure can be repeated. */
function randomFrom(seed: number) {
  const next = stream(seed);
  const below = (limit: number) => Math.floor(next() * limit);
  return { below, pick: <T>(values: readonly T[]): T => values[below(values.length)]! };
}

type Random = ReturnType<typeof randomFrom>;

function randomRule(random: Random): DocumentRule {
  const protocol = random.pick(["any", "tcp", "udp", "icmp4", "icmp6"] as const);
  const hasPorts = protocol === "tcp" || protocol === "udp";
  const isIcmp = protocol === "icmp4" || protocol === "icmp6";
  const maybe = <T>(make: () => T): T | null => random.below(2) === 0 ? null : make();
  // A rule may name an IPv4 block and an IPv6 block. Such a rule matches no packet.
  const cidr = () => random.pick([...CIDRS.ipv4, ...CIDRS.ipv6]);
  const range = () => {
    const [low, high] = [random.pick(PORTS), random.pick(PORTS)].toSorted((a, b) => a - b);
    return { low: low ?? 0, high: high ?? 0 };
  };
  return rule({
    priority: random.below(4) * 100,
    direction: random.pick(["inbound", "outbound"] as const),
    action: random.pick(["allow", "deny"] as const),
    protocol,
    source_cidr: maybe(cidr),
    destination_cidr: maybe(cidr),
    source_ports: hasPorts ? maybe(range) : null,
    destination_ports: hasPorts ? maybe(range) : null,
    icmp_type_code: isIcmp ? maybe(() => ({ type: random.pick([0, 8, 128]), code: random.pick([0, 1]) })) : null,
  });
}

function randomPacket(random: Random): Packet {
  const family = random.pick(["ipv4", "ipv6"] as const);
  const protocol = random.pick(["tcp", "udp", family === "ipv4" ? "icmp" : "ipv6-icmp", "sctp"] as const);
  const hasPorts = protocol === "tcp" || protocol === "udp";
  return {
    direction: random.pick(["inbound", "outbound"] as const),
    source: random.pick(ADDRESSES[family]),
    destination: random.pick(ADDRESSES[family]),
    protocol,
    ports: hasPorts ? { source: random.pick(PORTS), destination: random.pick(PORTS) } : null,
    icmp: protocol === "icmp" || protocol === "ipv6-icmp"
      ? { type: random.pick([0, 8, 128]), code: random.pick([0, 1]) }
      : null,
  };
}

const RULES: readonly (readonly [string, DocumentRule, string])[] = [
  ["everything", rule({ direction: "inbound", action: "allow" }), "counter return"],
  [
    "a block and one port",
    rule({
      ...{ direction: "inbound", action: "allow", protocol: "tcp", source_cidr: "198.51.100.0/24" },
      destination_ports: { low: 22, high: 22 },
    }),
    "ip saddr 198.51.100.0/24 meta l4proto tcp th dport 22 counter return",
  ],
  [
    "IPv6 and two ranges",
    rule({
      ...{ direction: "inbound", action: "deny", protocol: "udp", destination_cidr: "2001:db8::/32" },
      ...{ source_ports: { low: 1, high: 2 }, destination_ports: { low: 3, high: 4 } },
    }),
    "ip6 daddr 2001:db8::/32 meta l4proto udp th sport 1-2 th dport 3-4 counter drop",
  ],
  [
    "an ICMP type",
    rule({ direction: "inbound", action: "deny", protocol: "icmp4", icmp_type_code: { type: 8, code: 0 } }),
    "meta nfproto ipv4 meta l4proto icmp icmp type 8 icmp code 0 counter drop",
  ],
  [
    "ICMPv6",
    rule({ direction: "inbound", action: "deny", protocol: "icmp6" }),
    "meta nfproto ipv6 meta l4proto ipv6-icmp counter drop",
  ],
];

test.each(RULES)("a rule for %s", (_, given, text) => {
  expect(ruleLines([given], "inbound")).toEqual([`${text} comment "${given.rule_id}"`]);
});

test.each([
  ["two families", { source_cidr: "10.0.0.0/8", destination_cidr: "2001:db8::/32" }],
  ["ICMP of the other family", { protocol: "icmp6" as const, source_cidr: "10.0.0.0/8" }],
])("a rule with %s matches nothing and is left out", (_, fields) => {
  expect(ruleLines([rule({ direction: "inbound", action: "deny", ...fields })], "inbound")).toEqual([]);
});

test("higher priority comes first, and deny before allow at the same priority", () => {
  const rules = [
    rule({ direction: "inbound", action: "allow", priority: 100 }),
    rule({ direction: "inbound", action: "deny", priority: 100 }),
    rule({ direction: "inbound", action: "allow", priority: 200 }),
    rule({ direction: "outbound", action: "deny", priority: 900 }),
  ];
  expect(ruleLines(rules, "inbound").map((line) => /counter (\w+)/.exec(line)?.[1])).toEqual([
    "return",
    "drop",
    "return",
  ]);
});
