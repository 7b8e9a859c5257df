// Closes the usage of days that have ended (docs/tenancy.md, "Usage by day").
import { USAGE_CLOSE_LATE_S, USAGE_KEPT_DAYS } from "../contract/limits.ts";
import type { Db } from "./pool.ts";

/** Closes the days that ended long enough ago. If several processes call this function, one of them does the work. */
export async function closeUsage({ query }: Pick<Db, "query">): Promise<void> {
  await query("select usage_close($1, $2)", [USAGE_CLOSE_LATE_S, USAGE_KEPT_DAYS]);
}
