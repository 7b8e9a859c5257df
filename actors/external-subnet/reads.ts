// What is read of external subnets without going through their mailboxes.
import type { Kysely } from "kysely";
import type { ExternalSubnet } from "../../src/contract/external-network.ts";
import type { Database } from "../../src/db/tables.ts";
import type { IdPage } from "../../src/lib/ids/page-token.ts";
import { externalSubnetView } from "./transition.ts";

type Db = Kysely<Database>;

const COLUMNS = [
  "id",
  "name",
  "description",
  "nic_tag",
  "vlan_id",
  "ipv4_block",
  "ipv6_block",
  "provision_start_ipv4",
  "provision_end_ipv4",
  "provision_start_ipv6",
  "provision_end_ipv6",
  "owner_silos",
  "created_at",
] as const;

/** In the order of their ids, which is that of their creation. */
export async function listExternalSubnets(db: Db, query: IdPage): Promise<ExternalSubnet[]> {
  const { after, rows } = query;
  const found = await db.selectFrom("external_subnet").select(COLUMNS)
    .$if(after !== undefined, (q) => q.where("id", ">", after!)).orderBy("id").limit(rows).execute();
  return found.map((row) => externalSubnetView({ ...row, state: "live" }));
}

/** Those of these ids that exist, in the order of the ids. */
export async function findExternalSubnets(db: Db, ids: readonly string[]): Promise<ExternalSubnet[]> {
  const found = await db.selectFrom("external_subnet").select(COLUMNS).where("id", "in", ids).execute();
  const byId = new Map(found.map((row) => [row.id, externalSubnetView({ ...row, state: "live" })]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
