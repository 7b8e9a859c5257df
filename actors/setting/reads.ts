// Queries for cluster settings.
import type { Kysely } from "kysely";
import type { Database } from "../../src/db/tables.ts";

/** The stored values by key. A missing key has its default. */
export type StoredSettings = ReadonlyMap<string, unknown>;

export async function storedSettings(db: Kysely<Database>): Promise<StoredSettings> {
  const rows = await db.selectFrom("setting").select(["key", "value"]).execute();
  return new Map(rows.map(({ key, value }) => [key, value.is]));
}
