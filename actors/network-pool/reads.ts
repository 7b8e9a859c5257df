// What is read of network pools without going through their mailboxes.
import type { Kysely } from "kysely";
import type { NetworkPool } from "../../src/contract/external-network.ts";
import type { Database } from "../../src/db/tables.ts";
import type { IdPage } from "../../src/lib/ids/page-token.ts";
import { networkPoolView } from "./transition.ts";

type Db = Kysely<Database>;

const COLUMNS = ["id", "name", "description", "networks", "owner_silos", "created_at"] as const;

/** In the order of their ids, which is that of their creation. */
export async function listNetworkPools(db: Db, { after, rows }: IdPage): Promise<NetworkPool[]> {
  const found = await db.selectFrom("network_pool").select(COLUMNS)
    .$if(after !== undefined, (q) => q.where("id", ">", after!)).orderBy("id").limit(rows).execute();
  return found.map((row) => networkPoolView({ ...row, state: "live" }));
}

export async function findNetworkPool(db: Db, id: string): Promise<NetworkPool | undefined> {
  const row = await db.selectFrom("network_pool").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && networkPoolView({ ...row, state: "live" });
}
