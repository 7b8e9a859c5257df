// Determines whether the firewall of a VPC passes a packet, and which rule decides.
import type { FirewallCheck, FirewallCheckQuery } from "../contract/firewall.ts";
import { badRequest, type Fault } from "../contract/fault.ts";
import type { FirewallRule, Vpc } from "../contract/network.ts";
import { firewallOf, firstPacket } from "../lib/net/firewall-verdict.ts";
import { inCidr, parseCidr, parseIp } from "../lib/net/ip-address.ts";

/**
 * Applies the outbound rules if the source is in the VPC, and the inbound rules if the destination is in the VPC.
 * Returns a 400 if neither address is in the VPC. Also returns a 400 if the addresses, protocol, ports and ICMP type do
 * not fit together.
 */
export function checkFirewall(
  vpc: Pick<Vpc, "ipv4_block" | "ipv6_block">,
  rules: readonly FirewallRule[],
  query: FirewallCheckQuery,
): FirewallCheck | Fault {
  const wrong = queryFault(query);
  if (wrong !== null) return wrong;
  const { source, destination, protocol, source_port, destination_port, icmp_type, icmp_code = 0 } = query;
  const blocks = [vpc.ipv4_block, vpc.ipv6_block].filter((block) => block !== null);
  const packet = firstPacket({
    ...{ source, destination, protocol, source_port, destination_port: destination_port ?? null },
    icmp: icmp_type === undefined ? null : { type: icmp_type, code: icmp_code },
  });
  const firewall = { blocks, firewall_rules: rules.map((rule) => ({ ...rule, rule_id: rule.id })) };
  const judge = (address: string, direction: FirewallRule["direction"]) => {
    if (!blocks.some((block) => contains(block, address))) return null;
    const { is_allowed, rule_id } = firewallOf(firewall, direction)(packet);
    return { is_allowed, rule: rules.find(({ id }) => id === rule_id) ?? null };
  };
  const [outbound, inbound] = [judge(source, "outbound"), judge(destination, "inbound")];
  if (outbound === null && inbound === null) {
    return badRequest(`neither source ${source} nor destination ${destination} is in the blocks of the vpc`);
  }
  return { is_allowed: outbound?.is_allowed !== false && inbound?.is_allowed !== false, outbound, inbound };
}

function queryFault({ source, destination, protocol, ...of }: FirewallCheckQuery): Fault | null {
  const family = familyOf(source);
  if (family !== familyOf(destination)) return badRequest("source and destination must both be IPv4 or both be IPv6");
  const has_ports = protocol === "tcp" || protocol === "udp";
  if (has_ports && of.destination_port === undefined) {
    return badRequest(`destination_port: a ${protocol} packet needs a port, 1 to 65535`);
  }
  if (has_ports && (of.icmp_type !== undefined || of.icmp_code !== undefined)) {
    return badRequest(`icmp_type and icmp_code need the protocol icmp4 or icmp6, not ${protocol}`);
  }
  if (!has_ports && (of.source_port !== undefined || of.destination_port !== undefined)) {
    return badRequest(`source_port and destination_port need the protocol tcp or udp, not ${protocol}`);
  }
  if (!has_ports && protocol !== `icmp${family}`) {
    return badRequest(`protocol: ${protocol} does not fit an IPv${family} address; use icmp${family}`);
  }
  return null;
}

function familyOf(address: string): 4 | 6 {
  return address.includes(":") ? 6 : 4;
}

function contains(block: string, address: string): boolean {
  const [cidr, ip] = [parseCidr(block), parseIp(address)];
  return cidr !== null && ip !== null && inCidr(ip, cidr);
}
