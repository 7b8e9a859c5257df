// Queries for staged platform images.
import type { Kysely } from "kysely";
import type { StagedImage } from "../../src/contract/boot.ts";
import type { Database } from "../../src/db/tables.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";

/** Lists the staged images, sorted by stamp and then by booter. Omits reports of deleted API keys. */
export async function listStaged(db: Kysely<Database>): Promise<StagedImage[]> {
  const rows = await db.selectFrom("staging").innerJoin("api_key", "api_key.id", "staging.staged_by")
    .select(["staged_by", "stamps", "kinds", "staged_at"]).orderBy("staged_by").execute();
  return rows.flatMap(({ stamps, kinds, staged_at, staged_by }) =>
    stamps.map((stamp) => ({ stamp, kind: kinds[stamp] ?? "smartos", staged_at: toRfc3339(staged_at), staged_by }))
  ).sort((a, b) => (a.stamp < b.stamp ? -1 : a.stamp > b.stamp ? 1 : 0));
}
