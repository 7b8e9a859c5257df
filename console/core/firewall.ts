// Finds the firewall rule that decides about a packet (docs/networking.md, "Firewall rules").
import type { FirewallRule } from "../../src/contract/network.ts";
import { PORT_MAX } from "../../src/contract/limits.ts";
import { parseIp } from "../../src/lib/net/ip-address.ts";
import { firewallOf, firstPacket, type PacketQuery } from "../../src/lib/net/firewall-verdict.ts";

/** The first packet of a connection in one direction. */
export type Packet = PacketQuery & { readonly direction: FirewallRule["direction"] };

/** A packet as the user types it. */
export type PacketText =
  & Pick<Packet, "direction" | "protocol">
  & Readonly<Record<"source" | "destination" | "port", string>>;

/** Returns the packet, or a sentence that describes the mistake in the text. */
export function packetOf({ direction, protocol, source, destination, port }: PacketText): Packet | string {
  const [from, to] = [parseIp(source), parseIp(destination)];
  if (from === null) return `${source} is not an IP address.`;
  if (to === null) return `${destination} is not an IP address.`;
  if (from.family !== to.family) return "A packet has two IPv4 addresses or two IPv6 addresses.";
  const packet = { direction, protocol, source, destination };
  if (protocol === "tcp" || protocol === "udp") {
    const isPort = /^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= PORT_MAX;
    return isPort
      ? { ...packet, destination_port: Number(port) }
      : `A ${protocol} packet needs a port, 1 to ${PORT_MAX}.`;
  }
  if (port !== "") return `${protocol} has no ports. Remove the port.`;
  if (protocol !== `icmp${from.family}`) return `${protocol} has no IPv${from.family} packets.`;
  return { ...packet, destination_port: null };
}

/**
 * The order of evaluation in each direction: higher priority first, then deny before allow, as the nodes order them.
 */
export function evaluationOrder(rules: readonly FirewallRule[]): FirewallRule[] {
  return rules.toSorted((a, b) =>
    a.direction.localeCompare(b.direction) || b.priority - a.priority || b.action.localeCompare(a.action)
  );
}

/** Returns the rule that decides about the packet, or null if none matches it. */
export function decidingRule(rules: readonly FirewallRule[], packet: Packet): FirewallRule | null {
  const firewall_rules = rules.map((rule) => ({ ...rule, rule_id: rule.id }));
  const { rule_id } = firewallOf({ firewall_rules, blocks: [] }, packet.direction)(firstPacket(packet));
  return rules.find(({ id }) => id === rule_id) ?? null;
}
