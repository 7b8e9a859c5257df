// Runs the doctor's checks of invariants on the database of a test. No history, fault or race may violate an invariant.
import { behaviors } from "../../actors/registry.ts";
import type { DbClient } from "../../src/db/pool.ts";
import type { Check } from "../../src/doctor/check.ts";
import { invariants } from "../../src/doctor/invariants.ts";

const ALL = invariants(behaviors);

/** Returns one line for each violation. The list is empty if every invariant holds. */
export async function brokenInvariants(db: DbClient, checks: readonly Check[] = ALL): Promise<string[]> {
  const broken: string[] = [];
  for (const { id, title, query } of checks) {
    const { rows } = await db.query<{ what: string }>(query);
    broken.push(...rows.map(({ what }) => `${id}: ${title}: ${what}`));
  }
  return broken;
}
