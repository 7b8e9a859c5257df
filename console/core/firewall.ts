// Finds the firewall rule that decides about a packet (docs/networking.md, "Firewall rules").
import type { FirewallRule } from "../../src/contract/network.ts";
import { firewallOf, firstPacket, type PacketQuery } from "../../src/lib/net/firewall-verdict.ts";

/** The first packet of a connection in one direction. */
export type Packet = PacketQuery & { readonly direction: FirewallRule["direction"] };

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
