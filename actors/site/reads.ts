// Queries on the site.
import { type Kysely, sql } from "kysely";
import type { AutoApproveWindow } from "../../src/contract/cn.ts";
import type { Database } from "../../src/db/tables.ts";
import { SITE, type SiteState, windowView } from "./transition.ts";

/** Finds the auto-approve window that would approve a node now, or null. */
export async function findWindow(db: Kysely<Database>): Promise<AutoApproveWindow | null> {
  const row = await db.selectFrom("site_loaded").selectAll().select(sql<Date>`berth_now()`.as("now"))
    .where("id", "=", SITE.id).executeTakeFirst();
  // A check constraint ties the columns to the state, which the row type cannot express.
  return row === undefined ? null : windowView(row as unknown as SiteState, row.now);
}
