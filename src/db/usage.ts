// Closes the usage of days that have ended (docs/tenancy.md, "Usage by day"). Deletes the rows that are needed only
// until their day is closed.
import { USAGE_CLOSE_LATE_S, USAGE_CLOSE_ROWS, USAGE_KEPT_DAYS, USAGE_SLICES_PER_PASS } from "../contract/limits.ts";
import type { DbClient } from "./pool.ts";
import { type Sweep, sweepRows } from "./sweep.ts";

const LAST_CLOSED = "(select day from usage_closed)";

const SWEEPS: readonly Sweep[] = [
  // The spans of the last closed day are kept, because usage_follow reads the end of a resource's last span.
  {
    table: "usage_span",
    where: `ended_at < ${LAST_CLOSED}::timestamp at time zone 'UTC'`,
    order: "ended_at",
    params: [],
  },
  { table: "usage_traffic", where: `day <= ${LAST_CLOSED}`, order: "day", params: [] },
  { table: "usage_day", where: `day <= ${LAST_CLOSED} - $1::int`, order: "day", params: [USAGE_KEPT_DAYS] },
];
/**
 * Deletes the counters of deleted instances. Reads the whole table, because no index finds these rows. So this sweep
 * runs only in a pass that added usage to a day.
 */
const COUNTERS: Sweep = {
  table: "usage_counter",
  where: "not exists (select from instance i where i.id = usage_counter.instance_id)",
  order: "instance_id",
  params: [],
};

/**
 * Closes the days that ended more than USAGE_CLOSE_LATE_S ago, in slices of at most USAGE_CLOSE_ROWS rows. The next
 * pass continues. If several processes call this function, only one of them at a time adds a slice.
 */
export async function closeUsage(db: DbClient): Promise<void> {
  let slices = 0;
  while (slices < USAGE_SLICES_PER_PASS && await addSlice(db)) slices++;
  for (const sweep of slices === 0 ? SWEEPS : [...SWEEPS, COUNTERS]) await sweepRows(db, sweep);
}

async function addSlice(db: DbClient): Promise<boolean> {
  const { rows } = await db.query<{ added: boolean }>("select usage_close_slice($1, $2) as added", [
    USAGE_CLOSE_LATE_S,
    USAGE_CLOSE_ROWS,
  ]);
  return rows[0]!.added;
}
