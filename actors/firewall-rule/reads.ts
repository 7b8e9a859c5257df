// Queries for firewall rules.
import type { Kysely } from "kysely";
import type { FirewallRule } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import type { IdPage } from "../../src/lib/ids/page-token.ts";
import { reader } from "../record/reads.ts";
import { firewallRule } from "./transition.ts";

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "vpc_id",
  "name",
  "description",
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

export const findFirewallRule = firewallRules.find;

export type FirewallRuleQuery = IdPage & { readonly vpc_id: string };

/** Lists the firewall rules of a VPC in the order of their creation. */
export function listFirewallRules(db: Kysely<Database>, { vpc_id, ...at }: FirewallRuleQuery): Promise<FirewallRule[]> {
  return firewallRules.page(db, { vpc_id }, at);
}
