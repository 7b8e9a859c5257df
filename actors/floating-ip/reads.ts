// What is read of floating IPs without going through their mailboxes.
import type { Kysely } from "kysely";
import type { FloatingIp } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import type { IdPage } from "../../src/lib/ids/page-token.ts";
import { floatingIpView } from "./view.ts";

type Db = Kysely<Database>;

export type FloatingIpQuery = IdPage & { readonly project_id: string };

const COLUMNS = [
  "id",
  "tenant_id",
  "project_id",
  "name",
  "description",
  "address",
  "family",
  "network_id",
  "external_nic_tag",
  "attached_to",
  "attached_instance_id",
  "hosted_cn",
  "created_at",
  "updated_at",
] as const;

/** Those of a project, in the order of their ids, which is that of their creation. */
export async function listFloatingIps(db: Db, { project_id, after, rows }: FloatingIpQuery): Promise<FloatingIp[]> {
  const found = await db.selectFrom("floating_ip").select(COLUMNS).where("project_id", "=", project_id)
    .$if(after !== undefined, (q) => q.where("id", ">", after!)).orderBy("id").limit(rows).execute();
  return found.map(floatingIpView);
}

export async function findFloatingIp(db: Db, id: string): Promise<FloatingIp | undefined> {
  const row = await db.selectFrom("floating_ip").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && floatingIpView(row);
}
