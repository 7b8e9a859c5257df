import type { Page } from "../../../src/contract/common.ts";
import { JOB_STATUSES } from "../../../src/contract/enums.ts";
import type { Job } from "../../../src/contract/job.ts";
import { PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import { type AnyCommand, listCommand, oneOf, wholeNumber } from "../../framework.ts";
import type { Query } from "../../internal/exchange.ts";
import type { Io } from "../../internal/io.ts";
import { withIo } from "../../internal/run.ts";
import { AGE_COLUMN, type Column, ID_COLUMN, STATE_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { resolveNode } from "../node-name.ts";

export const JOBS_PATH = "/v1/system/jobs";
const ROWS_SHOWN = 50;

const COLUMNS: readonly Column<Job>[] = [
  ["SEQ", (job) => job.seq],
  ["ID", (job) => job.id, ID_COLUMN],
  ["KIND", (job) => job.kind.kind],
  ["STATUS", (job) => statusText(job), STATE_COLUMN],
  ["NODE", (job) => job.target_cn_uuid, ID_COLUMN],
  ["INSTANCE", (job) => job.kind["instance_id"], ID_COLUMN],
  ["AGE", (job) => job.created_at, AGE_COLUMN],
  ["CREATED_AT", (job) => job.created_at, WIDE_COLUMN],
  ["REASON", (job) => job.status.reason],
];

export function list(): AnyCommand {
  return listCommand("list", "List the jobs of node agents, newest first", "--node cn-17 --status failed")
    .option("--node <node>", "only jobs for this node: UUID, unique UUID prefix or hostname")
    .option("--instance <uuid>", "only jobs about this instance")
    .addOption(oneOf("--status <status>", "only jobs in this status", JOB_STATUSES))
    .option("--limit <rows>", "number of jobs", wholeNumber(1), ROWS_SHOWN)
    .action(withIo(async (io, { node, instance, status, limit }) => {
      const cn = node === undefined ? undefined : await resolveNode(io, node);
      const { items, more } = await collect(io, { cn, instance, status }, limit);
      io.table({ items }, items, COLUMNS, "(no jobs)");
      if (more) io.note("Older jobs exist; raise --limit to see them");
    }));
}

async function collect(io: Io, query: Query, rows: number): Promise<{ items: Job[]; more: boolean }> {
  const items: Job[] = [];
  let page_token: string | undefined;
  do {
    const limit = Math.min(PAGE_ROWS_MAX, rows - items.length);
    const page: Page<Job> = await io.get(JOBS_PATH, { ...query, limit, page_token });
    items.push(...page.items);
    page_token = page.next_page;
  } while (page_token !== undefined && items.length < rows);
  return { items, more: page_token !== undefined };
}

/** Returns the status of a job. Marks a cancelled job until its node has undone its part. */
export function statusText({ status, tombstone }: Job): string {
  return tombstone ? `${status.status} (to be undone)` : status.status;
}
