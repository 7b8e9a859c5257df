// Converts the values of the firewall flags to the API's values.
import type { FirewallDirection, FirewallProtocol } from "../../../src/contract/enums.ts";
import { FIREWALL_PRIORITY_MAX } from "../../../src/contract/limits.ts";
import { invalidValue, wholeNumber } from "../../framework.ts";

export const DIRECTION_NAMES = ["inbound", "in", "outbound", "out"] as const;
export const PROTOCOL_NAMES = ["any", "tcp", "udp", "icmp", "icmp4", "icmp6"] as const;

export function directionOf(word: (typeof DIRECTION_NAMES)[number]): FirewallDirection {
  return word === "in" || word === "inbound" ? "inbound" : "outbound";
}

export function protocolOf(word: (typeof PROTOCOL_NAMES)[number]): FirewallProtocol {
  return word === "icmp" ? "icmp4" : word;
}

export function priorityOf(text: string): number {
  const priority = wholeNumber(0)(text);
  if (priority > FIREWALL_PRIORITY_MAX) {
    throw invalidValue(`It must be 0 to ${FIREWALL_PRIORITY_MAX}.`);
  }
  return priority;
}
