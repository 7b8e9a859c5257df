// Does periodic maintenance, which any process may run. It creates and drops the partitions of stored replies, closes
// the usage of days, and archives old audit events. It also deletes old operations, jobs and transitions, and runs the
// functions in `prune`. Old rows are found by an index and deleted in batches, so the duration of a pass does not
// depend on the size of the table.
import type { SettingView } from "../contract/setting.ts";
import { SAGA_RETENTION_S_MIN, SEEN_RETENTION_HOURS, SWEEP_ROWS, SWEEPS_PER_PASS } from "../contract/limits.ts";
import { archiveAudit, type AuditSigner } from "./audit-archive.ts";
import type { Db } from "./pool.ts";
import { sweepRows } from "./sweep.ts";
import { closeUsage } from "./usage.ts";

type Retention = "saga.retention_secs" | "log.retention_secs" | "audit.archive_after_secs";

export type MaintenanceOptions = {
  readonly settings: { get(key: Retention): Promise<Pick<SettingView, "value">> };
  readonly signer: AuditSigner;
  readonly prune: readonly ((db: Db) => Promise<unknown>)[];
};

const HOURS_PER_DAY = 24;

/** Runs all steps, each independent of the others, then throws the first error if one failed. */
export async function maintain(db: Db, { settings, signer, prune }: MaintenanceOptions): Promise<void> {
  const secondsOf = async (key: Retention) => Number((await settings.get(key)).value);
  const steps = [
    () => maintainReplies(db),
    async () => dropEndedSagas(db, await secondsOf("saga.retention_secs")),
    async () => dropEndedJobs(db, await secondsOf("saga.retention_secs")),
    async () => archiveAudit(db, signer, await secondsOf("audit.archive_after_secs")),
    async () => dropTransitions(db, await secondsOf("log.retention_secs")),
    () => closeUsage(db),
    ...prune.map((each) => () => each(db)),
  ];
  const results = await Promise.allSettled(steps.map((step) => step()));
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/**
 * Creates the partitions of stored replies for the next days, and removes old replies. A server also calls this
 * function when it starts, before it stores a reply. After days without a server, the partition of today is missing,
 * and it cannot be created after the first reply of today.
 */
export async function maintainReplies(db: Db): Promise<void> {
  await db.query("select seen_maintain($1)", [Math.ceil(SEEN_RETENTION_HOURS / HOURS_PER_DAY)]);
}

/**
 * Deletes old operations that succeeded or were rolled back. Stuck operations are kept, because an operator must
 * resolve them. Operations from which a repeated request may read its answer are kept, even if the setting is a shorter
 * time. While a drain or an upgrade by label runs, the operations of its nodes are kept. If the operation of a finished
 * node were deleted, the node would count as not begun.
 */
async function dropEndedSagas(db: Db, retention_s: number): Promise<void> {
  await sweepRows(db, {
    table: "saga",
    where: "state in ('succeeded', 'unwound') and done_at < (select berth_now()) - make_interval(secs => $1) " +
      `and id <> all(array(${PARTS_OF_RUNNING}))`,
    order: "done_at",
    params: [Math.max(retention_s, SAGA_RETENTION_S_MIN)],
  });
}

/** The ids of the drains and upgrades of single nodes that a running operation by label has begun or will begin. */
const PARTS_OF_RUNNING = `
  select (jsonb_path_query(l.params, '$.nodes[*].operation_id') #>> '{}')::uuid from saga l
   where l.wake_at is not null and l.state = 'running' and l.saga in ('cn-drain-label', 'cn-upgrade-label')`;

/** Deletes jobs that ended more than `retention_s` ago. Keeps a job that its node must still undo (a tombstone). */
async function dropEndedJobs(db: Db, retention_s: number): Promise<void> {
  await sweepRows(db, {
    table: "job",
    where: "completed_at < (select berth_now()) - make_interval(secs => $1) and tombstone is not true",
    order: "completed_at",
    params: [retention_s],
  });
}

/**
 * The kinds of actors whose rows may be deleted without a transition. Maintenance deletes them, or they are deleted
 * together with the record that they belong to.
 */
export const SWEPT_KINDS = [
  "route",
  "port-forward",
  "quota",
  "tenant-quota",
  "ssh-key",
  "session",
  "image-upload",
  "saga",
  "job",
  "enrolment-claim",
] as const;

/** Drops old transitions. The SQL function log_drop keeps the transitions that the doctor and the audit chain need. */
async function dropTransitions(db: Db, retention_s: number): Promise<void> {
  for (let sweep = 0; sweep < SWEEPS_PER_PASS; sweep++) {
    const { rows } = await db.query<{ more: boolean }>("select log_drop($1, $2, $3) as more", [
      retention_s,
      SWEEP_ROWS,
      SWEPT_KINDS,
    ]);
    if (!rows[0]!.more) return;
  }
}
