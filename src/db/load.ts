// Summarizes the load of nodes and instances, and deletes the samples that are no longer needed. Each statement has a
// bound for its rows, so that its duration does not depend on the size of the site or on the work that is waiting.
import {
  HOURLY_LOAD_KEPT_DAYS,
  LOAD_FLEET_HOURS,
  LOAD_LONG_NODES,
  LOAD_LONGS_PER_PASS,
  LOAD_SUM_INSTANCES,
  LOAD_SUMS_PER_PASS,
  LOAD_SWEEPS_PER_PASS,
  METRICS_MINUTES_MAX,
  MINUTE_LOAD_KEPT_HOURS,
  NODE_LOAD_KEPT_DAYS,
  NODE_SAMPLES_KEPT_MINUTES,
} from "../contract/limits.ts";
import type { DbClient } from "./pool.ts";
import { sweepRows } from "./sweep.ts";

/**
 * Runs one pass: summarizes, unless a process has done this within half of the interval, and deletes old rows. The next
 * passes do the work that exceeds the bounds of a pass. Runs all steps, each independent of the others, then throws the
 * first error if one failed. Once `stopped` returns true, starts no further statement, except the other batches of a
 * delete.
 */
export async function materializeLoad(
  db: DbClient,
  interval_s: number,
  stopped: () => boolean = () => false,
): Promise<void> {
  const failures: unknown[] = [];
  const attempt = async (step: () => Promise<unknown>) => {
    if (!stopped()) await step().catch((error) => failures.push(error));
  };
  let is_due = false;
  await attempt(async () => {
    const { rows } = await db.query<{ did: boolean }>("select load_sample($1) as did", [interval_s]);
    is_due = rows[0]!.did;
  });
  if (is_due) {
    await attempt(() => updateLong(db, stopped));
    await attempt(() => db.query("select load_fleet($1)", [LOAD_FLEET_HOURS]));
    for (const step of ["minute", "hour"]) await attempt(() => sumInstances(db, step, stopped));
  }
  for (const old of OLD_ROWS) await attempt(() => sweep(db, old));
  if (failures.length > 0) throw failures[0];
}

async function updateLong(db: DbClient, stopped: () => boolean): Promise<void> {
  for (let n = 0; n < LOAD_LONGS_PER_PASS && !stopped(); n++) {
    const { rows } = await db.query<{ updated: number }>("select load_long($1) as updated", [LOAD_LONG_NODES]);
    if (rows[0]!.updated < LOAD_LONG_NODES) return;
  }
}

async function sumInstances(db: DbClient, step: string, stopped: () => boolean): Promise<void> {
  for (let n = 0; n < LOAD_SUMS_PER_PASS && !stopped(); n++) {
    const params = [step, LOAD_SUM_INSTANCES];
    const { rows } = await db.query<{ more: boolean }>("select instance_load_part($1, $2) as more", params);
    if (!rows[0]!.more) return;
  }
}

function sweep(db: DbClient, { table, where = "", column = "at", kept }: OldRows): Promise<number> {
  return sweepRows(db, {
    table,
    where: `${where}${column} <= (select berth_now()) - $1::interval`,
    order: column,
    params: [kept],
    batches: LOAD_SWEEPS_PER_PASS,
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
