import type { Job } from "../../../src/contract/job.ts";
import { type AnyCommand, showCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { blockText } from "../../internal/table.ts";
import { JOBS_PATH, statusText } from "./list.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one job: its object, progress and failure", "0191b0a2")
    .argument("<job>", "job id (opsctl job list)")
    .action(withIo(async (io, id) => {
      const job = await io.get<Job>(`${JOBS_PATH}/${encodeURIComponent(id)}`);
      io.print(job, jobText(job));
    }));
}

function jobText(job: Job): string {
  const { kind, ...about } = job.kind;
  const { progress } = job;
  const percent = progress === null || progress.percent === null ? "" : ` ${progress.percent} %`;
  return blockText([
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
  ]);
}
