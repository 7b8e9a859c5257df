// What is read of subnets without going through their mailboxes.
import type { Kysely } from "kysely";
import type { Subnet } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import type { IdPage } from "../../src/lib/ids/page-token.ts";
import { subnetView } from "./transition.ts";

type Db = Kysely<Database>;

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "vpc_id",
  "route_table_id",
  "name",
  "description",
  "ipv4_block",
  "ipv6_block",
  "vpc_ipv4_block",
  "vpc_ipv6_block",
  "created_at",
] as const;

export type SubnetQuery = IdPage & { readonly vpc_id: string };

/** Those of a VPC, in the order of their ids, which is that of their creation. */
export async function listSubnets(db: Db, { vpc_id, after, rows }: SubnetQuery): Promise<Subnet[]> {
  const found = await db.selectFrom("subnet").select(COLUMNS).where("vpc_id", "=", vpc_id)
    .$if(after !== undefined, (q) => q.where("id", ">", after!)).orderBy("id").limit(rows).execute();
  return found.map((row) => subnetView({ ...row, state: "live" }));
}

export async function findSubnet(db: Db, id: string): Promise<Subnet | undefined> {
  const row = await db.selectFrom("subnet").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && subnetView({ ...row, state: "live" });
}
