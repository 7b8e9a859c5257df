import type { FirewallRule } from "../../../src/contract/network.ts";
import type { Kind } from "../record/kind.ts";

export const FIREWALL_RULE: Kind<FirewallRule> = {
  noun: "firewall-rule",
  singular: "firewall rule",
  plural: "firewall rules",
  title: "FirewallRule",
  path: "/v1/firewall-rules",
  sample: "ssh",
  parent: "vpc",
  sends_project: true,
  columns: [
    ["ID", (rule) => rule.id],
    ["NAME", (rule) => rule.name],
    ["DIR", (rule) => rule.direction],
    ["ACTION", (rule) => rule.action],
    ["PRIO", (rule) => rule.priority],
    ["DEST", (rule) => rule.destination_cidr ?? "any"],
  ],
  lines: (rule) => [
    ["id", rule.id],
    ["name", rule.name],
    ["description", rule.description],
    ["vpc", rule.vpc],
    ["project", rule.project],
    ["direction", rule.direction],
    ["action", rule.action],
    ["protocol", rule.protocol],
    ["priority", rule.priority],
    ["source", rule.source_cidr ?? "any"],
    ["destination", rule.destination_cidr ?? "any"],
  ],
};
