// Computes the difference between the firewall rules of a VPC and the set that replaces them. If the new set contains
// the name of a rule, the rule keeps its id and therefore its counters.
import type { ReplaceFirewall } from "../../actors/vpc/firewall-set.ts";
import type { FirewallRuleSetBody } from "../contract/firewall.ts";
import { badRequest, type Fault } from "../contract/fault.ts";
import type { FirewallRule, Vpc } from "../contract/network.ts";
import { storedBlock } from "../lib/net/ip-block.ts";
import { canonicalJson } from "../lib/text/canonical-json.ts";

type Difference = Pick<ReplaceFirewall, "create" | "update" | "delete">;
type Columns = Pick<FirewallRule, (typeof COLUMNS)[number]>;

const COLUMNS = [
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

/**
 * Returns the changes that turn `rules` into the set, or the 400 for a name that occurs twice.
 * @param newId - Returns the id of a new rule by its name.
 */
export function firewallDifference(
  vpc: Vpc,
  { rules, items, newId }: {
    readonly rules: readonly FirewallRule[];
    readonly items: FirewallRuleSetBody["items"];
    readonly newId: (name: string) => string;
  },
): Difference | Fault {
  const twice = items.find(({ name }, index) => items.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined) return badRequest(`items: the name ${twice.name} occurs twice`);
  const plan = { ipv4_block: vpc.ipv4_block, ipv6_block: vpc.ipv6_block };
  const before = new Map(rules.map((rule) => [rule.name, rule]));
  const wanted = new Set(items.map(({ name }) => name));
  const { tenant_id, project_id, id: vpc_id } = vpc;
  return {
    delete: rules.filter(({ name }) => !wanted.has(name)).map(({ id }) => id),
    update: items.flatMap((item) => {
      const rule = before.get(item.name);
      const columns = columnsOf(item);
      const { description } = item;
      const labels = item.labels ?? rule?.labels ?? {};
      if (rule === undefined || isSame(rule, { ...columns, description, labels })) return [];
      const { id } = rule;
      const removed = Object.fromEntries(Object.keys(rule.labels).map((key) => [key, null]));
      const change = { name: null, description, labels: { ...removed, ...labels } };
      return [{ type: "update", id, ...change, rule: { ...columns, plan } }];
    }),
    create: items.filter(({ name }) => !before.has(name)).map((item) => {
      const { name, description, labels } = item;
      const place = { id: newId(name), tenant_id, project_id, vpc_id };
      return { type: "create", ...place, name, description, labels: labels ?? {}, ...columnsOf(item), plan };
    }),
  };
}

/**
 * Returns the columns for the body of a rule. Missing fields match everything. Networks are converted to canonical form
 * if they are valid.
 */
function columnsOf(body: FirewallRuleSetBody["items"][number]): Columns {
  return {
    priority: body.priority,
    direction: body.direction,
    action: body.action,
    protocol: body.protocol,
    source_cidr: storedBlock(body.source_cidr ?? null),
    destination_cidr: storedBlock(body.destination_cidr ?? null),
    source_ports: body.source_ports ?? null,
    destination_ports: body.destination_ports ?? null,
    icmp_type_code: body.icmp_type_code ?? null,
  };
}

type Compared = Columns & Pick<FirewallRule, "description" | "labels">;

function isSame(rule: Compared, wanted: Compared): boolean {
  return ([...COLUMNS, "description", "labels"] as const).every((each) =>
    canonicalJson(rule[each]) === canonicalJson(wanted[each])
  );
}
