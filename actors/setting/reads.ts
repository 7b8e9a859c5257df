// What is read of cluster settings without going through their mailbox.
import type { Kysely } from "kysely";
import type { Database } from "../../src/db/tables.ts";

/** The stored values by key; a key that is not there has its default. */
export async function storedSettings(db: Kysely<Database>): Promise<ReadonlyMap<string, unknown>> {
  const rows = await db.selectFrom("setting").select(["key", "value"]).execute();
  return new Map(rows.map(({ key, value }) => [key, value.is]));
}
