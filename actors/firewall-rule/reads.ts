// What is read of firewall rules without going through their mailboxes.
import type { Kysely } from "kysely";
import type { FirewallRule } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import type { IdPage } from "../../src/lib/ids/page-token.ts";
import { firewallRuleView } from "./transition.ts";

type Db = Kysely<Database>;

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

export type FirewallRuleQuery = IdPage & { readonly vpc_id: string };

/** Those of a VPC, in the order of their ids, which is that of their creation. */
export async function listFirewallRules(db: Db, { vpc_id, after, rows }: FirewallRuleQuery): Promise<FirewallRule[]> {
  const found = await db.selectFrom("firewall_rule").select(COLUMNS).where("vpc_id", "=", vpc_id)
    .$if(after !== undefined, (q) => q.where("id", ">", after!)).orderBy("id").limit(rows).execute();
  return found.map((row) => firewallRuleView({ ...row, state: "live" }));
}

export async function findFirewallRule(db: Db, id: string): Promise<FirewallRule | undefined> {
  const row = await db.selectFrom("firewall_rule").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && firewallRuleView({ ...row, state: "live" });
}
