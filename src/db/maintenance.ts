// Periodic maintenance, which any process may run: creates and drops the partitions of stored replies, closes the usage of
// days, and deletes old operations, jobs and rate limits.
import type { SettingView } from "../contract/setting.ts";
import { SEEN_RETENTION_HOURS } from "../contract/limits.ts";
import type { Db } from "./pool.ts";
import { closeUsage } from "./usage.ts";

export type MaintenanceOptions = {
  readonly settings: { get(key: "saga.retention_secs"): Promise<SettingView> };
  readonly prune: readonly ((db: Db) => Promise<unknown>)[];
};

const HOURS_PER_DAY = 24;

/** Runs all steps, each independent of the others, then throws the first error if one failed. */
export async function maintain(db: Db, { settings, prune }: MaintenanceOptions): Promise<void> {
  const steps = [
    () => db.query("select seen_maintain($1)", [Math.ceil(SEEN_RETENTION_HOURS / HOURS_PER_DAY)]),
    async () => dropEndedSagas(db, Number((await settings.get("saga.retention_secs")).value)),
    async () => dropEndedJobs(db, Number((await settings.get("saga.retention_secs")).value)),
    () => closeUsage(db),
    ...prune.map((each) => () => each(db)),
  ];
  const results = await Promise.allSettled(steps.map((step) => step()));
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/**
 * Deletes old operations that succeeded or were rolled back. Stuck operations are kept, because an operator must
 * resolve them.
 */
async function dropEndedSagas(db: Db, retention_s: number): Promise<void> {
  await db.query(
    "delete from saga where state in ('succeeded', 'unwound') and done_at < (select berth_now()) - make_interval(secs => $1)",
    [retention_s],
  );
}

/**
 * Deletes completed jobs after the same time as operations. Keeps a job that its node must still undo (a tombstone).
 */
async function dropEndedJobs(db: Db, retention_s: number): Promise<void> {
  await db.query(
    "delete from job where completed_at < (select berth_now()) - make_interval(secs => $1) and tombstone is not true",
    [retention_s],
  );
}
