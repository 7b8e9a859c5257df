// A firewall rule of a VPC, which every NIC in the VPC inherits (document 3, Networking rules; document 4, 1.15).
import type { FirewallAction, FirewallDirection, FirewallProtocol } from "../../src/contract/enums.ts";
import { badRequest, conflict, type Fault, NOT_FOUND } from "../../src/contract/fault.ts";
import type { FirewallRule, IcmpTypeCode, PortRange } from "../../src/contract/network.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { type Blocks, blockText, parseBlock, planFor, storedBlock } from "../../src/lib/net/ip-block.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { nameFault, renamed, type Renaming } from "../../src/lib/text/resource-name.ts";
import { audit, go, lock, refuse } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";
import type { VpcMember } from "../vpc/state.ts";

type Rule = {
  readonly priority: number;
  readonly direction: FirewallDirection;
  readonly action: FirewallAction;
  readonly protocol: FirewallProtocol;
  readonly source_cidr: string | null;
  readonly destination_cidr: string | null;
  readonly source_ports: PortRange | null;
  readonly destination_ports: PortRange | null;
  readonly icmp_type_code: IcmpTypeCode | null;
};

export type FirewallRuleMessage =
  | (
    & {
      readonly type: "create";
      /** What the VPC plans, which never changes. */
      readonly plan: Blocks;
    }
    & VpcMember
    & Rule
  )
  | ({ readonly type: "update" } & Renaming)
  | { readonly type: "delete" };

export type FirewallRuleState = VpcMember & Rule & { readonly state: "live"; readonly created_at: Date };

type Live = At<FirewallRuleState, "live">;

export const firewallRuleTable: Table<FirewallRuleState, FirewallRuleMessage> = {
  create: { absent: create, live: "firewall rule exists already" },
  update: { absent: "missing", live: update },
  delete: { absent: "missing", live: remove },
};

function create(_s: null, m: Of<FirewallRuleMessage, "create">, now: Date): Out<FirewallRuleState> {
  const { type: _type, plan, ...fields } = m;
  const { id, name, vpc_id } = fields;
  const networks = readNetworks(m);
  if ("message" in networks) return refuse(networks);
  const broken = ruleFault(m) ?? nameFault(name) ?? unplanned(networks, plan);
  if (broken !== null) return refuse(broken);
  const { tenant_id: _tenant, project_id: _project, id: _id, description: _description, ...shown } = fields;
  return go(
    { state: "live", ...fields, ...networks, created_at: now },
    lock(lockKey("vpc", vpc_id), true),
    audit("firewall_rule_create", resource(id), { ...shown, ...networks }),
  );
}

type Networks = Pick<Rule, "source_cidr" | "destination_cidr">;

/** The networks of a rule in canonical form, or the 400 for two of different families, which no packet matches. */
function readNetworks(m: Networks): Networks | Fault {
  const [source, destination] = [m.source_cidr, m.destination_cidr].map((text) =>
    text === null ? null : parseBlock(text)
  );
  if (m.source_cidr !== null && !source) return badRequest("source_cidr must be a network");
  if (m.destination_cidr !== null && !destination) return badRequest("destination_cidr must be a network");
  if (source && destination && source.family !== destination.family) {
    return badRequest("source_cidr and destination_cidr must be of one family");
  }
  return {
    source_cidr: source ? blockText(source) : null,
    destination_cidr: destination ? blockText(destination) : null,
  };
}

/** The 400 for ports or an ICMP type where the protocol has none, or for a range that ends before it begins. */
function ruleFault({ protocol, source_ports, destination_ports, icmp_type_code }: Rule): Fault | null {
  for (const [field, range] of Object.entries({ source_ports, destination_ports })) {
    if (range === null) continue;
    if (protocol !== "tcp" && protocol !== "udp") {
      return badRequest(`${field} needs the protocol tcp or udp, not ${protocol}`);
    }
    if (range.low > range.high) return badRequest(`${field}: low ${range.low} is above high ${range.high}`);
  }
  if (icmp_type_code !== null && protocol !== "icmp4" && protocol !== "icmp6") {
    return badRequest(`icmp_type_code needs the protocol icmp4 or icmp6, not ${protocol}`);
  }
  return null;
}

function unplanned({ source_cidr, destination_cidr }: Networks, plan: Blocks): Fault | null {
  for (const text of [source_cidr, destination_cidr]) {
    const block = text === null ? null : parseBlock(text);
    const planned = block === null ? null : planFor(block, plan);
    if (planned !== null && "message" in planned) return planned;
  }
  return null;
}

function update(s: Live, m: Of<FirewallRuleMessage, "update">): Out<FirewallRuleState> {
  const next = renamed(s, m);
  if ("message" in next) return refuse(next);
  return go(
    next,
    audit("firewall_rule_update", resource(s.id), { name: next.name }),
  );
}

function remove(s: Live): Out<FirewallRuleState> {
  return go<FirewallRuleState>(
    null,
    audit("firewall_rule_delete", resource(s.id), { name: s.name, vpc_id: s.vpc_id }),
  );
}

function resource(id: string): string {
  return `FirewallRule::"${id}"`;
}

export function firewallRuleView(s: FirewallRuleState): FirewallRule {
  const { id, tenant_id, project_id, vpc_id, name, description, priority, direction, action, protocol } = s;
  return {
    id,
    tenant_id,
    project_id,
    project: project_id,
    vpc_id,
    vpc: vpc_id,
    name,
    description,
    priority,
    direction,
    action,
    protocol,
    source_cidr: storedBlock(s.source_cidr),
    destination_cidr: storedBlock(s.destination_cidr),
    source_ports: s.source_ports,
    destination_ports: s.destination_ports,
    icmp_type_code: s.icmp_type_code,
    created_at: toRfc3339(s.created_at),
  };
}

export const firewallRule: Behavior<FirewallRuleState, FirewallRuleMessage> = {
  kind: "firewall-rule",
  table: "firewall_rule",
  key: "id",
  step: (s, m, now) => runTable(firewallRuleTable, s, m, now),
  deadline: () => null,
  view: firewallRuleView,
  constraints: {
    firewall_rule_name: conflict("a firewall rule named <name> already exists in this vpc"),
    firewall_rule_vpc_fkey: NOT_FOUND,
  },
};
