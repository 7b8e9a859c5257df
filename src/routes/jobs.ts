// Defines the routes with which operators list and show the jobs of nodes.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findJob, listJobs } from "../../actors/job/reads.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { JOB_STATUSES } from "../contract/enums.ts";
import { NOT_FOUND } from "../contract/fault.ts";
import { Job } from "../contract/job.ts";
import { faultResponse } from "../http/fault-status.ts";
import { resultsPage, rowsToFetch } from "../http/page.ts";
import { decodePageToken, FOREIGN_PAGE_TOKEN } from "../lib/ids/page-token.ts";
import { answers, rights } from "./answer.ts";
import type { App, Reads } from "./deps.ts";

type Deps = Reads;

const tags = ["Jobs"];

export function jobRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/system/jobs",
    tags,
    summary: "List jobs, newest first",
    ...rights(deps, "SystemRead"),
    request: {
      query: z.object({
        cn: Uuid.optional().describe("Jobs of this node"),
        instance: Uuid.optional().describe("Jobs for this instance"),
        status: z.enum(JOB_STATUSES).optional(),
        ...PageQuery,
      }),
    },
    responses: answers(page(Job), "The jobs"),
  });
  app.openapi(listRoute, async (c) => {
    const { cn, instance, status, limit, page_token } = c.req.valid("query");
    const before_seq = page_token === undefined ? undefined : seqFrom(page_token);
    if (before_seq === null) return faultResponse(c, FOREIGN_PAGE_TOKEN);
    const rows = await listJobs(deps.kysely, { cn, instance, status, before_seq, rows: rowsToFetch(limit) });
    const result = resultsPage({
      rows,
      limit,
      view: (row) => row,
      cursorOf: ({ seq }) => ({ seq }),
      narrow: "cn=, instance= or status=",
    });
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path: "/v1/system/jobs/{job_id}",
    tags,
    summary: "Show one job",
    ...rights(deps, "SystemRead"),
    request: { params: z.object({ job_id: Uuid }) },
    responses: answers(Job, "The job"),
  });
  app.openapi(showRoute, async (c) => {
    const job = await findJob(deps.byKey, c.req.valid("param").job_id);
    return job === undefined ? faultResponse(c, NOT_FOUND) : c.json(job, 200);
  });
}

function seqFrom(page_token: string): number | null {
  const seq = decodePageToken(page_token)?.["seq"];
  return typeof seq === "number" && Number.isSafeInteger(seq) ? seq : null;
}
