// Queries for network pools.
import type { Kysely } from "kysely";
import type { NetworkPool } from "../../src/contract/external-network.ts";
import type { Database } from "../../src/db/tables.ts";
import type { IdPage } from "../../src/lib/ids/page-token.ts";
import { reader } from "../record/reads.ts";
import { networkPool } from "./transition.ts";

const COLUMNS = ["id", "name", "description", "networks", "owner_silos", "created_at"] as const;

const networkPools = reader("network_pool", COLUMNS, networkPool.view);

export const findNetworkPool = networkPools.find;

/** Lists network pools in the order of their creation. */
export function listNetworkPools(db: Kysely<Database>, at: IdPage): Promise<NetworkPool[]> {
  return networkPools.page(db, {}, at);
}
