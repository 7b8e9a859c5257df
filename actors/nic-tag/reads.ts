// Queries for NIC tags, and for the tags that each node offers.
import { type Kysely, sql } from "kysely";
import type { CnNicTags, NicTag, ReportedNicTag } from "../../src/contract/external-network.ts";
import type { Database } from "../../src/db/tables.ts";
import type { IdPage } from "../../src/lib/ids/page-token.ts";
import { reader } from "../record/reads.ts";
import { nicTag } from "./transition.ts";

type Db = Kysely<Database>;

const nicTags = reader("nic_tag", ["id", "name", "description", "mtu", "created_at"], nicTag.view);

export const findNicTag = nicTags.find;

/** Lists NIC tags in the order of their creation. */
export function listNicTags(db: Db, at: IdPage): Promise<NicTag[]> {
  return nicTags.page(db, {}, at);
}

const REPORTED = sql<ReportedNicTag[]>`(
  select coalesce(jsonb_agg(jsonb_build_object('name', t.name, 'physical_nic', t.physical_nic, 'vlan_id', t.vlan_id,
                                               'mtu', t.mtu, 'bridge', t.bridge) order by t.name), '[]')
    from cn_nic_tag t where t.server_uuid = cn_capacity.server_uuid)`.as("reported");

/** Lists the tags of each node that has reported its capacity, in the order of the UUIDs of the nodes. */
export async function listCnNicTags(db: Db, { after, rows }: IdPage): Promise<CnNicTags[]> {
  return await db.selectFrom("cn_capacity").innerJoin("cn_loaded", "cn_loaded.server_uuid", "cn_capacity.server_uuid")
    .select(["cn_capacity.server_uuid", "hostname", sql<string[]>`report->'nic_tags'`.as("nic_tags"), REPORTED])
    .$if(after !== undefined, (q) => q.where("cn_capacity.server_uuid", ">", after!))
    .orderBy("cn_capacity.server_uuid").limit(rows).execute();
}
