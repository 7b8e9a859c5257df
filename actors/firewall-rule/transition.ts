// A firewall rule of a VPC, which applies to every NIC in the VPC (docs/networking.md).
import { conflict, type Fault, isFault, NOT_FOUND } from "../../src/contract/fault.ts";
import type { FirewallRule } from "../../src/contract/network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { type Blocks, storedBlock } from "../../src/lib/net/ip-block.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { type Create, type Delete, record, type RecordState, type Update } from "../record/record.ts";
import { vpcChanged } from "../record/vpc-change.ts";
import type { VpcMember } from "../vpc/state.ts";
import { readNetworks, type Rule, ruleFault, unplanned } from "./rule.ts";

/** `plan` holds the blocks of the VPC, which never change. */
type Planned = { readonly plan: Blocks };
type Fields = VpcMember & Rule & Planned;

/** An update. `rule` has the columns to change; without it, the rule matches the same packets as before. */
type UpdateRule = Update & { readonly rule?: Partial<Rule> & Planned };

export type FirewallRuleMessage = Create<Fields> | UpdateRule | Delete;

export type FirewallRuleState = RecordState<VpcMember & Rule>;

const RULE = [
  "priority",
  "direction",
  "action",
  "protocol",
  "source_cidr",
  "destination_cidr",
  "source_ports",
  "destination_ports",
  "icmp_type_code",
] as const;

/** Returns the columns with canonical networks, or the 400 of readNetworks or ruleFault. */
function wellFormed<R extends Rule>(columns: R): R | Fault {
  const networks = readNetworks(columns);
  if (isFault(networks)) return networks;
  return ruleFault(columns) ?? { ...columns, ...networks };
}

export const firewallRule = record<FirewallRuleState, FirewallRuleMessage, FirewallRule>({
  kind: "firewall-rule",
  table: "firewall_rule",
  noun: "firewall rule",
  resource: "FirewallRule",
  parent: ({ vpc_id }) => lockKey("vpc", vpc_id),
  create: {
    action: "firewall_rule_create",
    note: ["name", "vpc_id", ...RULE],
    row: ({ type: _type, plan: _plan, ...columns }) => wellFormed(columns),
    check: unplanned,
    parts: (row) => [vpcChanged(row)],
  },
  update: {
    action: "firewall_rule_update",
    note: ["name", "vpc_id", ...RULE],
    row: (named, { rule }) => {
      if (rule === undefined) return named;
      const { plan, ...columns } = rule;
      const next = wellFormed({ ...named, ...columns });
      return isFault(next) ? next : unplanned(next, { plan }) ?? next;
    },
    parts: (row, { rule }) => rule === undefined ? [] : [vpcChanged(row)],
  },
  delete: { action: "firewall_rule_delete", note: ["name", "vpc_id"], parts: (row) => [vpcChanged(row)] },
  has_labels: true,
  view: (row) => ({
    id: row.id,
    tenant_id: row.tenant_id,
    project_id: row.project_id,
    project: row.project_id,
    vpc_id: row.vpc_id,
    vpc: row.vpc_id,
    name: row.name,
    description: row.description,
    labels: row.labels ?? {},
    priority: row.priority,
    direction: row.direction,
    action: row.action,
    protocol: row.protocol,
    source_cidr: storedBlock(row.source_cidr),
    destination_cidr: storedBlock(row.destination_cidr),
    source_ports: row.source_ports,
    destination_ports: row.destination_ports,
    icmp_type_code: row.icmp_type_code,
    counts: null,
    realized: null,
    created_at: toRfc3339(row.created_at),
  }),
  constraints: {
    firewall_rule_name: conflict("a firewall rule named <name> already exists in this vpc"),
    firewall_rule_vpc_fkey: NOT_FOUND,
  },
});
