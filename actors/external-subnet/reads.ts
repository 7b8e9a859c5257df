// Queries for external subnets.
import type { Kysely } from "kysely";
import type { ExternalSubnet } from "../../src/contract/external-network.ts";
import type { Database } from "../../src/db/tables.ts";
import type { IdPage } from "../../src/lib/ids/page-token.ts";
import { reader } from "../record/reads.ts";
import { externalSubnet } from "./transition.ts";

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
  "gateway_ipv4",
  "gateway_ipv6",
  "owner_silos",
  "created_at",
] as const;

const externalSubnets = reader("external_subnet", COLUMNS, externalSubnet.view);

/** Lists external subnets in the order of their creation. */
export function listExternalSubnets(db: Db, at: IdPage): Promise<ExternalSubnet[]> {
  return externalSubnets.page(db, {}, at);
}

/** Returns the external subnets with these ids, in the order of the list `ids`. Ignores ids without a row. */
export async function findExternalSubnets(db: Db, ids: readonly string[]): Promise<ExternalSubnet[]> {
  const found = await db.selectFrom("external_subnet").select(COLUMNS).where("id", "in", ids).execute();
  const byId = new Map(found.map((row) => [row.id, externalSubnet.view(row)]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
