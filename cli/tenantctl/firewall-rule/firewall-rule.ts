import type { FirewallRule, PortRange } from "../../../src/contract/network.ts";
import { PENDING_COLUMN } from "../record/realized.ts";
import type { Kind } from "../record/kind.ts";
import { ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";

export const FIREWALL_RULE: Kind<FirewallRule> = {
  noun: "firewall-rule",
  singular: "firewall rule",
  plural: "firewall rules",
  title: "FirewallRule",
  path: "/v1/firewall-rules",
  has_labels: true,
  waits: true,
  sample: "ssh",
  parent: "vpc",
  sends_project: true,
  columns: [
    ["NAME", (rule) => rule.name],
    ["ID", (rule) => rule.id, ID_COLUMN],
    ["DIR", (rule) => rule.direction],
    ["ACTION", (rule) => rule.action],
    ["PRIO", (rule) => rule.priority],
    ["PROTO", protocolText],
    ["SOURCE", (rule) => endText(rule.source_cidr, rule.source_ports)],
    ["DEST", (rule) => endText(rule.destination_cidr, rule.destination_ports)],
    ["PACKETS", (rule) => rule.counts?.packets, WIDE_COLUMN],
    ["BYTES", (rule) => rule.counts?.bytes, { format: "bytes", wide: true }],
    PENDING_COLUMN,
  ],
  lines: (rule) => [
    ["id", rule.id],
    ["name", rule.name],
    ["description", rule.description],
    ["vpc", rule.vpc],
    ["project", rule.project],
    ["direction", rule.direction],
    ["action", rule.action],
    ["protocol", protocolText(rule)],
    ["priority", rule.priority],
    ["source", endText(rule.source_cidr, rule.source_ports)],
    ["destination", endText(rule.destination_cidr, rule.destination_ports)],
    ["packets", rule.counts?.packets],
    ["bytes", rule.counts?.bytes],
  ],
};

/** Returns the protocol; for ICMP with the type and code that the rule names, as in `icmp4 8/0`. */
function protocolText({ protocol, icmp_type_code }: FirewallRule): string {
  if (icmp_type_code === null) return protocol;
  const { type, code } = icmp_type_code;
  return `${protocol} ${type}/${code}`;
}

/** Returns one end of a rule, as in `10.0.0.0/8`, `any port 22` or `any ports 80-443`. */
function endText(cidr: string | null, ports: PortRange | null): string {
  const network = cidr ?? "any";
  if (ports === null) return network;
  return ports.low === ports.high ? `${network} port ${ports.low}` : `${network} ports ${ports.low}-${ports.high}`;
}
