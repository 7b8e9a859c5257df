// Translates the firewall rules of a VPC into nftables rules. All NICs of the VPC share two chains, one for each
// direction. Packets of established connections and replies are accepted before they reach these chains.
import type { DocumentRule } from "../../src/contract/network-document.ts";
import { orderedRules } from "../../src/lib/net/firewall-verdict.ts";

/** Returns the nftables rules of one direction. An allowed packet returns from the chain. */
export function ruleLines(rules: readonly DocumentRule[], direction: DocumentRule["direction"]): string[] {
  return orderedRules(rules, direction).map((rule) =>
    [
      ...addressMatches(rule),
      ...protocolMatches(rule),
      "counter",
      rule.action === "allow" ? "return" : "drop",
      `comment "${rule.rule_id}"`,
    ].join(" ")
  );
}

function addressMatches({ source_cidr, destination_cidr }: DocumentRule): string[] {
  return [
    ...(source_cidr === null ? [] : [`${familyOf(source_cidr)} saddr ${source_cidr}`]),
    ...(destination_cidr === null ? [] : [`${familyOf(destination_cidr)} daddr ${destination_cidr}`]),
  ];
}

function protocolMatches({ protocol, source_ports, destination_ports, icmp_type_code }: DocumentRule): string[] {
  switch (protocol) {
    case "any":
      return [];
    case "tcp":
    case "udp":
      return [
        `meta l4proto ${protocol}`,
        ...(source_ports === null ? [] : [`th sport ${rangeText(source_ports)}`]),
        ...(destination_ports === null ? [] : [`th dport ${rangeText(destination_ports)}`]),
      ];
    // The rule also matches the family, because an IPv6 packet may carry the protocol number of IPv4's ICMP.
    case "icmp4":
      return ["meta nfproto ipv4", "meta l4proto icmp", ...typeMatches("icmp", icmp_type_code)];
    case "icmp6":
      return ["meta nfproto ipv6", "meta l4proto ipv6-icmp", ...typeMatches("icmpv6", icmp_type_code)];
    default:
      return protocol satisfies never;
  }
}

function typeMatches(header: "icmp" | "icmpv6", of: DocumentRule["icmp_type_code"]): string[] {
  return of === null ? [] : [`${header} type ${of.type}`, `${header} code ${of.code}`];
}

function rangeText({ low, high }: { readonly low: number; readonly high: number }): string {
  return low === high ? `${low}` : `${low}-${high}`;
}

function familyOf(cidr: string): "ip" | "ip6" {
  return cidr.includes(":") ? "ip6" : "ip";
}
