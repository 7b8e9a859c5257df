// Summarizes the load of nodes and instances, and deletes the samples that are no longer needed. The statement for the
// samples reads the last report of every node. Each other statement processes a limited number of rows, so that its
// duration does not depend on the work that is waiting.
import {
  HOURLY_LOAD_KEPT_DAYS,
  LOAD_FLEET_HOURS,
  LOAD_LONG_NODES,
  LOAD_LONGS_PER_MINUTE,
  LOAD_SUM_INSTANCES,
  LOAD_SUMS_PER_MINUTE,
  LOAD_SWEEPS_PER_MINUTE,
  METRICS_MINUTES_MAX,
  MINUTE_LOAD_KEPT_HOURS,
  NODE_LOAD_KEPT_DAYS,
  NODE_SAMPLES_KEPT_MINUTES,
} from "../contract/limits.ts";
import type { DbClient } from "./pool.ts";
import { sweepRows } from "./sweep.ts";

/**
 * Runs one pass: summarizes the load and deletes old rows. Skips the summary if the last one is younger than half of
 * the interval. A pass does a limited amount of work, which is larger for a longer interval. The next passes do the
 * rest. If a step fails, the other steps still run, and the first error is thrown at the end. Once `stopped` returns
 * true, no further step begins.
 */
export async function materializeLoad(
  db: DbClient,
  interval_s: number,
  stopped: () => boolean = () => false,
): Promise<void> {
  const minutes = Math.max(1, Math.ceil(interval_s / 60));
  const failures: unknown[] = [];
  const attempt = async (step: () => Promise<unknown>) => {
    if (!stopped()) await step().catch((error) => failures.push(error));
  };
  /** Repeats a step while it returns true, at most `per_minute` times for each minute of the interval. */
  const repeat = (per_minute: number, step: () => Promise<boolean>) =>
    attempt(async () => {
      for (let n = 0; n < per_minute * minutes && !stopped(); n++) if (!await step()) return;
    });
  let is_due = false;
  await attempt(async () => {
    const { rows } = await db.query<{ did: boolean }>("select load_sample($1) as did", [interval_s]);
    is_due = rows[0]!.did;
  });
  if (is_due) {
    await repeat(LOAD_LONGS_PER_MINUTE, () => isMore(db, "load_long($1) = $1", [LOAD_LONG_NODES]));
    await repeat(1, () => isMore(db, "load_fleet($1) = $1", [LOAD_FLEET_HOURS]));
    for (const step of ["minute", "hour"]) {
      await repeat(LOAD_SUMS_PER_MINUTE, () => isMore(db, "instance_load_part($1, $2)", [step, LOAD_SUM_INSTANCES]));
    }
  }
  for (const old of OLD_ROWS) await attempt(() => sweep(db, old, LOAD_SWEEPS_PER_MINUTE * minutes));
  if (failures.length > 0) throw failures[0];
}

/** Calls a function that does a part of the work. Returns whether there may be more work. */
async function isMore(db: DbClient, call: string, params: readonly unknown[]): Promise<boolean> {
  const { rows } = await db.query<{ more: boolean }>(`select ${call} as more`, params);
  return rows[0]!.more;
}

function sweep(db: DbClient, { table, where = "", column = "at", kept }: OldRows, batches: number): Promise<number> {
  return sweepRows(db, {
    table,
    where: `${where}${column} <= (select berth_now()) - $1::interval`,
    order: column,
    params: [kept],
    batches,
  });
}

type OldRows = {
  readonly table: string;
  readonly where?: string;
  readonly column?: string;
  readonly kept: string;
};

const OLD_ROWS: readonly OldRows[] = [
  { table: "cn_load_sample", kept: `${NODE_SAMPLES_KEPT_MINUTES} minutes` },
  { table: "cn_load_hour", column: "hour", kept: `${NODE_LOAD_KEPT_DAYS} days` },
  { table: "cn_load_fleet", column: "hour", kept: `${NODE_LOAD_KEPT_DAYS} days` },
  { table: "instance_metrics", kept: `${METRICS_MINUTES_MAX} minutes` },
  { table: "instance_load", where: "step = 'minute' and ", kept: `${MINUTE_LOAD_KEPT_HOURS} hours` },
  { table: "instance_load", where: "step = 'hour' and ", kept: `${HOURLY_LOAD_KEPT_DAYS} days` },
];
