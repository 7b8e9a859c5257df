// Decides in two ways whether a firewall lets a packet pass. `modelVerdict` follows docs/networking.md. `textVerdict`
// reads the nftables text that the agent gives to the kernel.
import type { DocumentRule, NetworkDocument } from "../../../src/contract/network-document.ts";
import { inCidr, parseCidr, parseIp } from "../../../src/lib/net/ip-address.ts";

/**
 * A packet of a new connection. `ports` is null unless the protocol is TCP or UDP. `icmp` is null unless the protocol
 * is ICMP.
 */
export type Packet = {
  readonly direction: DocumentRule["direction"];
  readonly source: string;
  readonly destination: string;
  readonly protocol: "tcp" | "udp" | "icmp" | "ipv6-icmp" | "sctp";
  readonly ports: { readonly source: number; readonly destination: number } | null;
  readonly icmp: { readonly type: number; readonly code: number } | null;
};
export type Verdict = "pass" | "drop";

/**
 * A rule with a higher priority decides before a rule with a lower priority, and deny before allow at the same
 * priority. If no rule matches, an outbound packet passes. An inbound packet then passes only if its source is in the
 * VPC's blocks.
 */
export function modelVerdict({ firewall_rules, blocks }: NetworkDocument, packet: Packet): Verdict {
  const matching = firewall_rules.filter((rule) => rule.direction === packet.direction && matches(rule, packet));
  const highest = Math.max(...matching.map(({ priority }) => priority));
  const deciding = matching.filter(({ priority }) => priority === highest);
  if (deciding.length > 0) return deciding.some(({ action }) => action === "deny") ? "drop" : "pass";
  if (packet.direction === "outbound") return "pass";
  return blocks.some((block) => isIn(packet.source, block)) ? "pass" : "drop";
}

function matches(rule: DocumentRule, { source, destination, protocol, ports, icmp }: Packet): boolean {
  const inRange = (port: number | undefined, range: DocumentRule["source_ports"]) =>
    range === null || (port !== undefined && port >= range.low && port <= range.high);
  const isIpv6 = source.includes(":");
  const ofProtocol = {
    any: true,
    tcp: protocol === "tcp",
    udp: protocol === "udp",
    icmp4: protocol === "icmp" && !isIpv6,
    icmp6: protocol === "ipv6-icmp" && isIpv6,
  }[rule.protocol];
  return ofProtocol &&
    (rule.source_cidr === null || isIn(source, rule.source_cidr)) &&
    (rule.destination_cidr === null || isIn(destination, rule.destination_cidr)) &&
    inRange(ports?.source, rule.source_ports) && inRange(ports?.destination, rule.destination_ports) &&
    (rule.icmp_type_code === null ||
      (icmp?.type === rule.icmp_type_code.type && icmp.code === rule.icmp_type_code.code));
}

function isIn(address: string, block: string): boolean {
  return inCidr(parseIp(address)!, parseCidr(block)!);
}

/** A rule of the text: its matches, and what happens to a packet that fits all of them. */
export type TextRule = {
  readonly matches: readonly (readonly [what: string, value: string])[];
  readonly verdict: "return" | "drop";
};
export type Chains = ReadonlyMap<string, readonly TextRule[]>;

/**
 * Reads the chains of a ruleset whose rules only match and decide. Throws an Error for an unknown match.
 */
export function chainsOf(ruleset: string): Chains {
  const chains = new Map<string, TextRule[]>();
  for (const name of ["rules_in", "rules_out"]) {
    const body = new RegExp(`chain ${name} \\{\\n([^}]*)\\}`).exec(ruleset)?.[1];
    if (body === undefined) throw new Error(`the ruleset has no chain ${name}`);
    chains.set(name, body.split("\n").map((line) => line.trim()).filter((line) => line !== "").map(textRule));
  }
  return chains;
}

function textRule(line: string): TextRule {
  const words = line.replace(/ comment ".*"$/, "").split(" ");
  const verdict = words.pop();
  const counter = words.pop();
  if (counter !== "counter" && verdict !== "return") throw new Error(`unknown rule: ${line}`);
  const rest = counter === "counter" ? words : [...words, counter ?? ""];
  const matches: [string, string][] = [];
  for (let at = 0; at < rest.length; at += 3) matches.push([`${rest[at]} ${rest[at + 1]}`, rest[at + 2] ?? ""]);
  if (verdict !== "return" && verdict !== "drop") throw new Error(`unknown verdict: ${line}`);
  return { matches, verdict };
}

/** Returns the text's verdict on a packet. At the end of a chain the packet passes, as after `return`. */
export function textVerdict(chains: Chains, packet: Packet): Verdict {
  const rules = chains.get(packet.direction === "inbound" ? "rules_in" : "rules_out") ?? [];
  const deciding = rules.find(({ matches }) => matches.every(([what, value]) => fits(packet, what, value)));
  return deciding?.verdict === "drop" ? "drop" : "pass";
}

function fits({ source, destination, protocol, ports, icmp }: Packet, what: string, value: string): boolean {
  const isIpv6 = source.includes(":");
  const inRange = (port: number | undefined) => {
    const [low = "", high = low] = value.split("-");
    return port !== undefined && port >= Number(low) && port <= Number(high);
  };
  switch (what) {
    case "ip saddr":
      return !isIpv6 && isIn(source, value);
    case "ip daddr":
      return !isIpv6 && isIn(destination, value);
    case "ip6 saddr":
      return isIpv6 && isIn(source, value);
    case "ip6 daddr":
      return isIpv6 && isIn(destination, value);
    case "meta l4proto":
      return protocol === value;
    case "meta nfproto":
      return value === (isIpv6 ? "ipv6" : "ipv4");
    case "th sport":
      return inRange(ports?.source);
    case "th dport":
      return inRange(ports?.destination);
    case "icmp type":
      return protocol === "icmp" && icmp?.type === Number(value);
    case "icmp code":
      return protocol === "icmp" && icmp?.code === Number(value);
    case "icmpv6 type":
      return protocol === "ipv6-icmp" && icmp?.type === Number(value);
    case "icmpv6 code":
      return protocol === "ipv6-icmp" && icmp?.code === Number(value);
    default:
      throw new Error(`unknown match: ${what}`);
  }
}
