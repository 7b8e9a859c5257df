// Queries on boot records.
import type { Kysely } from "kysely";
import type { BootRecordState } from "../../src/contract/enums.ts";
import type { BootRecordRow, Database } from "../../src/db/tables.ts";

type Db = Kysely<Database>;

export type BootRecordQuery = { readonly state?: BootRecordState; readonly after?: string; readonly rows: number };

/** Lists boot records in the order of their MACs. */
export async function listBootRecords(db: Db, { state, after, rows }: BootRecordQuery): Promise<BootRecordRow[]> {
  return await db.selectFrom("boot_record").selectAll()
    .$if(state !== undefined, (q) => q.where("state", "=", state!))
    .$if(after !== undefined, (q) => q.where("mac", ">", after!))
    .orderBy("mac").limit(rows).execute();
}

export async function findBootRecord(db: Db, mac: string): Promise<BootRecordRow | undefined> {
  return await db.selectFrom("boot_record").selectAll().where("mac", "=", mac).executeTakeFirst();
}

export async function findBootRecords(db: Db, macs: readonly string[]): Promise<Map<string, BootRecordRow>> {
  if (macs.length === 0) return new Map();
  const rows = await db.selectFrom("boot_record").selectAll().where("mac", "in", macs).execute();
  return new Map(rows.map((row) => [row.mac, row]));
}

/** Lists the boot records that are bound to this node or have one of these MACs, in the order of their MACs. */
export async function listBootRecordsOf(
  db: Db,
  { server_uuid, macs }: { readonly server_uuid: string; readonly macs: readonly string[] },
): Promise<BootRecordRow[]> {
  return await db.selectFrom("boot_record").selectAll()
    .where((is) => is.or([is("server_uuid", "=", server_uuid), ...(macs.length === 0 ? [] : [is("mac", "in", macs)])]))
    .orderBy("mac").execute();
}
