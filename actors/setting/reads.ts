// Queries for cluster settings.
import type { Kysely } from "kysely";
import type { Database } from "../../src/db/tables.ts";

/** Returns the stored values by key. A missing key has its default. */
export async function storedSettings(db: Kysely<Database>): Promise<ReadonlyMap<string, unknown>> {
  const rows = await db.selectFrom("setting").select(["key", "value"]).execute();
  return new Map(rows.map(({ key, value }) => [key, value.is]));
}
