// Queries for firewall rules.
import { type Kysely, sql } from "kysely";
import type { FirewallRule } from "../../src/contract/network.ts";
import type { Database, FirewallRuleRow } from "../../src/db/tables.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { finder, type LabeledPage, reader } from "../record/reads.ts";
import { firewallRule } from "./transition.ts";

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "vpc_id",
  "name",
  "description",
  "labels",
  "priority",
  "direction",
  "action",
  "protocol",
  "source_cidr",
  "destination_cidr",
  "source_ports",
  "destination_ports",
  "icmp_type_code",
  "created_at",
] as const;

const firewallRules = reader("firewall_rule", COLUMNS, firewallRule.view);

/** Finds rules with the sums of their counters. */
export const findFirewallRule = finder<FirewallRule>(async (db, ids) => {
  const found = await firewallRules.find.many(db, ids);
  return new Map((await addCounts(db, [...found.values()])).map((rule) => [rule.id, rule]));
});

export type FirewallRuleQuery = LabeledPage & { readonly vpc_id: string };

/** Lists the firewall rules of a VPC in the order of their creation, with the sums of their counters. */
export async function listFirewallRules(
  db: Kysely<Database>,
  { vpc_id, ...at }: FirewallRuleQuery,
): Promise<FirewallRule[]> {
  return await addCounts(db, await firewallRules.page(db, { vpc_id }, at));
}

type CountRow = {
  readonly rule_id: string;
  readonly packets: number;
  readonly bytes: number;
  readonly counted_at: Date;
};

/** The numbers in reports have no upper limit, so their sum may be too large for a JavaScript number. */
const COUNT_MAX = Number.MAX_SAFE_INTEGER;

async function addCounts(db: Kysely<Database>, rules: readonly FirewallRule[]): Promise<FirewallRule[]> {
  if (rules.length === 0) return [];
  const { rows } = await sql<CountRow>`
    select rule_id, least(sum(packets), ${COUNT_MAX})::bigint as packets,
           least(sum(bytes), ${COUNT_MAX})::bigint as bytes, max(counted_at) as counted_at
      from firewall_rule_count where rule_id = any(${rules.map(({ id }) => id)}) group by rule_id`.execute(db);
  const by_rule = new Map(rows.map(({ rule_id, counted_at, ...sums }) => [
    rule_id,
    { ...sums, counted_at: toRfc3339(counted_at) },
  ]));
  return rules.map((rule) => ({ ...rule, counts: by_rule.get(rule.id) ?? null }));
}

/** All firewall rules of a VPC in one snapshot. */
export type FirewallSet = { readonly tag: string; readonly rules: readonly FirewallRule[] };

/** Finds the firewall rules of a VPC in the order of evaluation, with a tag. Every change of a rule changes the tag. */
export async function findFirewallSet(db: Kysely<Database>, vpc_id: string): Promise<FirewallSet | null> {
  const { rows } = await sql<{ tag: string; id: string | null } & Omit<FirewallRuleRow, "id">>`
    select berth_firewall_tag(v.id) as tag, r.*
      from vpc v left join firewall_rule r on r.vpc_id = v.id
     where v.id = ${vpc_id}
     order by r.direction, r.priority desc, r.action desc, r.id`.execute(db);
  const [first] = rows;
  if (first === undefined) return null;
  return {
    tag: first.tag,
    rules: rows.flatMap(({ id, ...row }) => id === null ? [] : firewallRule.view({ ...row, id })),
  };
}
