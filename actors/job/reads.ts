// Queries on jobs.
import { type Kysely, sql } from "kysely";
import type { JobKind, JobStatus } from "../../src/contract/enums.ts";
import type { Job } from "../../src/contract/job.ts";
import type { Database, JobRow } from "../../src/db/tables.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { finder } from "../record/reads.ts";

type Db = Kysely<Database>;

export type JobQuery = {
  readonly cn?: string;
  readonly instance?: string;
  readonly status?: JobStatus;
  /** Continues after the job with this number. */
  readonly before_seq?: number;
  readonly rows: number;
};

/** Lists jobs, newest first. */
export async function listJobs(db: Db, query: JobQuery): Promise<Job[]> {
  const { cn, instance, status, before_seq, rows } = query;
  const found = await db.selectFrom("job_loaded").selectAll()
    .$if(cn !== undefined, (q) => q.where("target_cn", "=", cn!))
    .$if(instance !== undefined, (q) => q.where(sql<boolean>`payload ? 'instance_id'`))
    .$if(instance !== undefined, (q) => q.where(sql<boolean>`payload->>'instance_id' = ${instance}`))
    .$if(status !== undefined, (q) => q.where("state", "=", status!))
    .$if(before_seq !== undefined, (q) => q.where("seq", "<", before_seq!))
    .orderBy("seq", "desc").limit(rows).execute();
  return found.map(jobView);
}

export const findJob = finder<Job>(async (db, ids) => {
  const rows = await db.selectFrom("job_loaded").selectAll().where(sql<boolean>`id = any(${ids})`).execute();
  return new Map(rows.map((row) => [row.id, jobView(row)]));
});

/** The work for a node. */
export type Work = {
  /** Null if the node does not exist. */
  readonly node_state: string | null;
  /**
   * The jobs with a tombstone, oldest first. The list has at most one job more than requested. The extra job shows that
   * more tombstones exist.
   */
  readonly tombstones: readonly Job[];
  /**
   * At most TRIED_MAX jobs that the node claimed but does not list as running, oldest first. Empty if the node sent no
   * list.
   */
  readonly forgotten: readonly Job[];
  /** The ids of at most TRIED_MAX pending jobs, oldest first. */
  readonly pending: readonly string[];
};

/** The state of a node that asks for work. */
export type NodeWork = {
  readonly state: string;
  /** Whether the node has a job to claim, something to undo, or a console to open. */
  readonly busy: boolean;
  /** The jobs that the node has claimed, in no particular order. */
  readonly claimed: readonly string[];
};

/**
 * Finds the state of all these nodes in one statement. Most nodes that ask have no work, so they need no other
 * statement.
 */
export async function findNodesWork(db: Db, nodes: readonly string[]): Promise<Map<string, NodeWork>> {
  const { rows } = await sql<NodeWork & { server_uuid: string }>`
    select server_uuid, state,
           exists (select from job where target_cn = server_uuid and job.state = 'pending') or
           exists (select from job where target_cn = server_uuid and tombstone) or
           exists (select from console_session o where o.cn = server_uuid and o.state in ('calling', 'told')) as busy,
           array(select id from job where target_cn = server_uuid and job.state = 'in_progress')::text[] as claimed
      from cn where server_uuid = any(${nodes}::uuid[])`.execute(db);
  return new Map(rows.map(({ server_uuid, ...work }) => [server_uuid, work]));
}

export type WorkQuery = {
  readonly server_uuid: string;
  /** The jobs that the node lists as running; null if it sent no list. */
  readonly running: readonly string[] | null;
  readonly tombstones_max: number;
};

/** The number of jobs that one claim tries, in order, before the node must ask again. */
const TRIED_MAX = 8;

export async function findWork(db: Db, { server_uuid, running, tombstones_max }: WorkQuery): Promise<Work> {
  const of = sql`target_cn = ${server_uuid}::uuid`;
  const { rows: [found] } = await sql<
    { node_state: string | null; pending: string[]; tombstones: string[]; forgotten: string[] }
  >`
    select (select state from cn where server_uuid = ${server_uuid}::uuid) as node_state,
      array(select id from job where ${of} and state = 'pending' order by seq limit ${TRIED_MAX})::text[] as pending,
      array(select id from job where ${of} and tombstone order by seq limit ${
    tombstones_max + 1
  })::text[] as tombstones,
      array(select id from job where ${of} and state = 'in_progress' and not id = any(${running ?? []}::uuid[])
              and ${running !== null} order by seq limit ${TRIED_MAX})::text[] as forgotten`.execute(db);
  const { node_state, pending, tombstones, forgotten } = found!;
  return {
    node_state,
    pending,
    tombstones: await inOrder(db, tombstones),
    forgotten: await inOrder(db, forgotten),
  };
}

async function inOrder(db: Db, ids: readonly string[]): Promise<Job[]> {
  if (ids.length === 0) return [];
  const rows = await db.selectFrom("job_loaded").selectAll().where("id", "in", ids).orderBy("seq").execute();
  return rows.map(jobView);
}

/**
 * Finds the nodes that have work, something to undo or a console to open. The query starts from the jobs, because many
 * nodes wait and few have work.
 */
export async function findNodesWithWork(
  db: Db,
  nodes: readonly string[],
): Promise<Map<string, { readonly work: true }>> {
  const { rows } = await sql<{ target_cn: string }>`
    select distinct target_cn from job where state = 'pending'
    union select distinct target_cn from job where tombstone
    union select distinct cn from console_session where state = 'calling'`.execute(db);
  const waiting = new Set(nodes);
  return new Map(rows.filter(({ target_cn }) => waiting.has(target_cn)).map(({ target_cn }) => [target_cn, WORK]));
}

const WORK = { work: true } as const;

function jobView(row: JobRow): Job {
  const time = (at: Date | null) => at === null ? null : toRfc3339(at);
  return {
    id: row.id,
    kind: { ...row.payload, kind: row.kind as JobKind },
    status: { status: row.state, ...(row.reason !== null && { reason: row.reason }) },
    seq: row.seq,
    created_at: toRfc3339(row.created_at),
    claimed_at: time(row.claimed_at),
    completed_at: time(row.completed_at),
    claimed_by: row.claimed_by,
    result: row.result,
    target_cn_uuid: row.target_cn,
    operation_id: row.saga_id,
    lease_until: row.state === "in_progress" ? time(leaseEnd(row)) : null,
    tombstone: row.tombstone === true,
    progress: row.step === null || row.progress_at === null
      ? null
      : { step: row.step, percent: row.percent, updated_at: toRfc3339(row.progress_at) },
  };
}

function leaseEnd({ lease_until, lease_s, renewed_at }: JobRow): Date | null {
  if (lease_until === null || renewed_at === null || lease_s === null) return lease_until;
  return new Date(Math.max(lease_until.getTime(), renewed_at.getTime() + lease_s * 1_000));
}
