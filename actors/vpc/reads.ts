// What is read of VPCs without going through their mailboxes.
import type { Kysely } from "kysely";
import type { Vpc } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import type { IdPage } from "../../src/lib/ids/page-token.ts";
import { vpcView } from "./transition.ts";

type Db = Kysely<Database>;

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "main_route_table_id",
  "name",
  "description",
  "vni",
  "ipv4_block",
  "ipv6_block",
  "created_at",
] as const;

export type VpcQuery = IdPage & { readonly project_id: string };

/** Those of a project, in the order of their ids, which is that of their creation. */
export async function listVpcs(db: Db, { project_id, after, rows }: VpcQuery): Promise<Vpc[]> {
  const found = await db.selectFrom("vpc").select(COLUMNS).where("project_id", "=", project_id)
    .$if(after !== undefined, (q) => q.where("id", ">", after!)).orderBy("id").limit(rows).execute();
  return found.map((row) => vpcView({ ...row, state: "live" }));
}

export async function findVpc(db: Db, id: string): Promise<Vpc | undefined> {
  const row = await db.selectFrom("vpc").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && vpcView({ ...row, state: "live" });
}
