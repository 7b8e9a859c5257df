// Defines the schemas of a VPC's set of firewall rules, and of a check that finds out whether the rules allow a packet
// (docs/networking.md, "Firewall rules").
import { z } from "zod";
import { wholeNumber } from "./common.ts";
import { PACKET_PROTOCOLS } from "./enums.ts";
import { NewLabels } from "./labels.ts";
import { FIREWALL_SET_RULES_MAX, ICMP_NUMBER_MAX, PORT_MAX } from "./limits.ts";
import { FirewallRule, FirewallRuleBody } from "./network.ts";

/** All firewall rules of a VPC. */
export const FirewallRuleSet = z.object({
  items: z.array(FirewallRule).describe("In the order of evaluation: priority, then deny before allow, then id"),
});
export type FirewallRuleSet = z.infer<typeof FirewallRuleSet>;

/** A rule of the set. */
const RuleOfSet = FirewallRuleBody.extend({
  labels: NewLabels.nullish().describe(
    "Replaces the labels of the existing rule with this name. Default: its labels stay",
  ),
});

/** The body that replaces all firewall rules of a VPC. */
export const FirewallRuleSetBody = z.strictObject({
  items: z.array(RuleOfSet).max(FIREWALL_SET_RULES_MAX).describe("Each rule must have a different name"),
});
export type FirewallRuleSetBody = z.infer<typeof FirewallRuleSetBody>;

const port = wholeNumber(0, PORT_MAX);
const icmp = wholeNumber(0, ICMP_NUMBER_MAX);
const address = z.union([z.ipv4(), z.ipv6()]);

/** The first packet of a connection, as a query. */
export const FirewallCheckQuery = z.object({
  source: address,
  destination: address.describe("To check a floating IP, send the address of its NIC"),
  protocol: z.enum(PACKET_PROTOCOLS).default("tcp"),
  destination_port: port.optional().describe("Required for tcp and udp"),
  source_port: port.optional().describe("Default: a port in the range that clients use"),
  icmp_type: icmp.optional().describe("Default: an echo request"),
  icmp_code: icmp.optional().describe("Default: 0"),
});
export type FirewallCheckQuery = z.infer<typeof FirewallCheckQuery>;

const verdict = z.object({
  is_allowed: z.boolean(),
  rule: FirewallRule.nullable().describe("The rule that decides; null if no rule matches"),
});

/** The decision of the firewall of a VPC about a packet. */
export const FirewallCheck = z.object({
  is_allowed: z.boolean().describe("False if the rules of at least one direction deny the packet"),
  outbound: verdict.nullable().describe("The decision at the sender; null if the source is outside the VPC"),
  inbound: verdict.nullable().describe("The decision at the receiver; null if the destination is outside the VPC"),
});
export type FirewallCheck = z.infer<typeof FirewallCheck>;
