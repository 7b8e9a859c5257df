// What is read of instances without going through their mailbox.
import type { Kysely } from "kysely";
import type { PlacedInstance } from "../../src/contract/instance.ts";
import type { Database } from "../../src/db/tables.ts";

/** Where a page of the list goes on: instances are listed in the order of their ids. */
export type OnNodeQuery = { readonly server_uuid: string; readonly after?: string; readonly rows: number };

/** Whatever has this host, in every state. */
export async function listInstancesOn(db: Kysely<Database>, query: OnNodeQuery): Promise<PlacedInstance[]> {
  const rows = await db.selectFrom("instance").select(["id", "host_cn_uuid", "state"])
    .where("host_cn_uuid", "=", query.server_uuid)
    .$if(query.after !== undefined, (q) => q.where("id", ">", query.after!))
    .orderBy("id").limit(query.rows).execute();
  return rows.map(({ state, ...row }) => ({ ...row, lifecycle: { state } }));
}
