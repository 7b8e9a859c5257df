// What is read of NIC tags without going through their mailboxes, and which of them each node offers.
import { type Kysely, sql } from "kysely";
import type { CnNicTags, NicTag } from "../../src/contract/external-network.ts";
import type { Database } from "../../src/db/tables.ts";
import type { IdPage } from "../../src/lib/ids/page-token.ts";
import { nicTagView } from "./transition.ts";

type Db = Kysely<Database>;

const COLUMNS = ["id", "name", "description", "mtu", "created_at"] as const;

/** In the order of their ids, which is that of their creation. */
export async function listNicTags(db: Db, { after, rows }: IdPage): Promise<NicTag[]> {
  const found = await db.selectFrom("nic_tag").select(COLUMNS)
    .$if(after !== undefined, (q) => q.where("id", ">", after!)).orderBy("id").limit(rows).execute();
  return found.map((row) => nicTagView({ ...row, state: "live" }));
}

export async function findNicTag(db: Db, id: string): Promise<NicTag | undefined> {
  const row = await db.selectFrom("nic_tag").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && nicTagView({ ...row, state: "live" });
}

/** Of the nodes that have reported their capacity, in the order of their UUIDs. `after` is the last of the page before. */
export async function listCnNicTags(db: Db, { after, rows }: IdPage): Promise<CnNicTags[]> {
  return await db.selectFrom("cn_capacity").innerJoin("cn_loaded", "cn_loaded.server_uuid", "cn_capacity.server_uuid")
    .select(["cn_capacity.server_uuid", "hostname", sql<string[]>`report->'nic_tags'`.as("nic_tags")])
    .$if(after !== undefined, (q) => q.where("cn_capacity.server_uuid", ">", after!))
    .orderBy("cn_capacity.server_uuid").limit(rows).execute();
}
