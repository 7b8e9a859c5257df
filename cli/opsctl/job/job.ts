// Defines how commands list and print the jobs of node agents.
import type { Page } from "../../../src/contract/common.ts";
import { JOB_STATUSES } from "../../../src/contract/enums.ts";
import type { Job } from "../../../src/contract/job.ts";
import { PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import { oneOf, wholeNumber } from "../../framework.ts";
import type { Query } from "../../internal/exchange.ts";
import type { Io } from "../../internal/io.ts";
import { resolveId, type SearchedKind } from "../../internal/found-id.ts";
import { AGE_COLUMN, ID_COLUMN, STATE_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { INSTANCE_ARGUMENT, resolveInstance } from "../instance/instance.ts";
import { resolveNode } from "../node-name.ts";
import type { Listing, Noted, Showing } from "../record/kind.ts";

export const JOBS_PATH = "/v1/system/jobs";
const ROWS_SHOWN = 50;
const SEARCHED: SearchedKind = { kind: "job", one: "job", many: "jobs", list: "opsctl job list" };

type Options = { readonly node?: string; readonly instance?: string; readonly status?: string; readonly limit: number };

export const JOB: Listing<Job> & Showing<Job> = {
  one: "job",
  many: "jobs",
  argument: ["<job>", "UUID or unique UUID prefix (opsctl job list)"],
  sample: "0191b0a2",
  summaries: {
    list: "List the jobs of node agents, newest first",
    show: "Show one job: its object, progress and failure",
  },
  list_sample: "--node cn-17 --status failed",
  selectors: (made) =>
    made.option("--node <node>", "only jobs for this node: UUID, unique UUID prefix or hostname")
      .option("--instance <instance>", `only jobs about this instance: ${INSTANCE_ARGUMENT[1]}`)
      .addOption(oneOf("--status <status>", "only jobs in this status", JOB_STATUSES))
      .option("--limit <rows>", "number of jobs", wholeNumber(1), ROWS_SHOWN),
  columns: [
    ["SEQ", (job) => job.seq],
    ["ID", (job) => job.id, ID_COLUMN],
    ["KIND", (job) => job.kind.kind],
    ["STATUS", (job) => statusText(job), STATE_COLUMN],
    ["NODE", (job) => job.target_cn_uuid, ID_COLUMN],
    ["INSTANCE", (job) => job.kind["instance_id"], ID_COLUMN],
    ["AGE", (job) => job.created_at, AGE_COLUMN],
    ["CREATED_AT", (job) => job.created_at, WIDE_COLUMN],
    ["REASON", (job) => job.status.reason],
  ],
  all: async (io, _, { options }) => {
    const { node, instance, status, limit } = options as Options;
    const cn = node === undefined ? undefined : await resolveNode(io, node);
    const instance_id = instance === undefined ? undefined : await resolveInstance(io, instance);
    return await collect(io, { cn, instance: instance_id, status }, limit);
  },
  find: async (io, text) => await io.get<Job>(`${JOBS_PATH}/${await resolveId(io, text, SEARCHED)}`),
  record: (job) => job,
  lines: (job) => {
    const { kind, ...about } = job.kind;
    const { progress } = job;
    const percent = progress === null || progress.percent === null ? "" : ` ${progress.percent} %`;
    return [
      ["id", job.id],
      ["seq", job.seq],
      ["kind", kind],
      ...Object.entries(about),
      ["status", statusText(job)],
      ["reason", job.status.reason],
      ["progress", progress === null ? null : `${progress.step}${percent} at ${progress.updated_at}`],
      ["node", job.target_cn_uuid],
      ["operation", job.operation_id],
      ["created_at", job.created_at],
      ["claimed_at", job.claimed_at],
      ["lease_until", job.lease_until],
      ["completed_at", job.completed_at],
      ["result", job.result],
    ];
  },
};

async function collect(io: Io, query: Query, limit: number): Promise<Noted<Job>> {
  const rows: Job[] = [];
  let page_token: string | undefined;
  do {
    const page: Page<Job> = await io.get(JOBS_PATH, {
      ...query,
      limit: Math.min(PAGE_ROWS_MAX, limit - rows.length),
      page_token,
    });
    rows.push(...page.items);
    page_token = page.next_page;
  } while (page_token !== undefined && rows.length < limit);
  return { rows, note: page_token === undefined ? null : "Older jobs exist; raise --limit to see them" };
}

/** Returns the status of a job. Marks a cancelled or expired job until the node has undone the effects of the job. */
function statusText({ status, tombstone }: Job): string {
  return tombstone ? `${status.status} (to be undone)` : status.status;
}
