// Defines the routes with which node agents claim jobs, read blueprints, report progress and outcomes, and confirm
// tombstones (docs/instances.md, "Jobs").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findJob } from "../../actors/job/reads.ts";
import { Uuid } from "../contract/common.ts";
import { conflict, type Fault, fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import { Blueprint, ClaimBody, ClaimView, Job, JobEndBody, JobProgressBody } from "../contract/job.ts";
import { goneSignal } from "../http/env.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, ASKS, jsonBody, refuses, REPEATABLE, rights } from "./answer.ts";
import { blueprintOf } from "../services/blueprint.ts";
import { nodeOf } from "../services/calling-node.ts";
import { type Asked, createJobClaims, hasWork } from "../services/job-claims.ts";
import type { App, Ctx, RouteDeps, Writes } from "./deps.ts";
import { hold } from "./long-poll.ts";

type Deps =
  & Writes
  & Pick<RouteDeps, "claims" | "hold_ms" | "holdShares" | "mint" | "settings" | "signals" | "workOf">;

const tags = ["Node agent"];
const JobParam = z.object({ job_id: Uuid });

export function agentJobRoutes(app: App, deps: Deps): void {
  const jobClaims = createJobClaims(deps);

  const claimRoute = createRoute({
    method: "post",
    path: "/v1/agent/claim",
    tags,
    summary: "Claim the next job",
    description:
      "A node claims its jobs in the order of `seq`. With `wait`, the request waits for a job. If the node's key is " +
      "deleted while the request waits, the request gets 401. Every answer contains tombstones that the node has " +
      "not confirmed, the oldest first. Only an approved node can claim jobs.",
    ...rights(deps, "AgentClaim"),
    ...ASKS,
    request: { body: jsonBody(ClaimBody) },
    responses: answers(ClaimView, "A job or null, and the tombstones"),
  });
  app.openapi(claimRoute, async (c) => {
    const { claimed_by, wait, running_jobs, known_consoles } = c.req.valid("json");
    const server_uuid = nodeOf(c);
    if (claimed_by !== server_uuid) return faultResponse(c, OTHER_NODE);
    const asked: Asked = { server_uuid, running: running_jobs ?? null, consoles: known_consoles ?? null };
    const first = await jobClaims.first(c, asked);
    if (isFault(first)) return faultResponse(c, first);
    const hold_ms = Math.min((wait ?? 0) * 1_000, deps.hold_ms);
    if (hasWork(first) || hold_ms === 0) return c.json(first, 200);
    const woken = await hold(c, deps, { polls: deps.claims, key: server_uuid, hold_ms });
    if (isFault(woken)) return faultResponse(c, woken);
    // A node must not get a job if it disconnected during the wait, or if its key was deleted.
    if (woken.found === null || goneSignal(c).aborted) return c.json(first, 200);
    const lost = await c.get("checkAgain")?.() ?? null;
    if (lost !== null) return faultResponse(c, lost);
    const later = await jobClaims.next(c, asked);
    return isFault(later) ? faultResponse(c, later) : c.json(later, 200);
  });

  const blueprintRoute = createRoute({
    method: "get",
    path: "/v1/agent/jobs/{job_id}/blueprint",
    tags,
    summary: "Read the blueprint of a claimed job",
    ...rights(deps, "AgentBlueprint"),
    ...refuses(409),
    request: { params: JobParam },
    responses: answers(Blueprint, "The data that the node needs for the job"),
  });
  app.openapi(blueprintRoute, async (c) => {
    const job = await ownJob(c, c.req.valid("param").job_id);
    if (isFault(job)) return faultResponse(c, job);
    return c.json(await blueprintOf(deps, job), 200);
  });

  const progressRoute = createRoute({
    method: "post",
    path: "/v1/agent/jobs/{job_id}/progress",
    tags,
    summary: "Report the progress of a job",
    description: "The progress is shown with the job. It does not renew the job's lease: only heartbeats and polls do.",
    ...rights(deps, "AgentProgress"),
    ...REPEATABLE,
    request: { params: JobParam, body: jsonBody(JobProgressBody) },
    responses: answers(z.null().describe("Accepted"), "Stored"),
  });
  app.openapi(progressRoute, async (c) => {
    const { job_id } = c.req.valid("param");
    const { step, percent } = c.req.valid("json");
    const job = await ownJob(c, job_id);
    if (isFault(job)) return faultResponse(c, job);
    const refusal = await deps.signals.progress(nodeOf(c), { job_id, step, percent: percent ?? null });
    return refusal === null ? c.json(null, 200) : faultResponse(c, refusal);
  });

  const completeRoute = createRoute({
    method: "post",
    path: "/v1/agent/jobs/{job_id}/complete",
    tags,
    summary: "Report the outcome of a job",
    description: "A node undoes its work for the job before it reports a failure. 409 when the job has already " +
      "ended. The agent ignores a 409: if it must undo the job, it also gets the job as a tombstone.",
    ...rights(deps, "AgentComplete"),
    request: { params: JobParam, body: jsonBody(JobEndBody) },
    responses: answers(Job, "The job"),
  });
  app.openapi(completeRoute, async (c) => {
    const { job_id } = c.req.valid("param");
    const { outcome: end, result } = c.req.valid("json");
    const by = nodeOf(c);
    const outcome = await deps.sendOnce(
      c,
      { kind: "job", id: job_id },
      end.kind === "completed"
        ? { type: "complete", by, result: result ?? null }
        : { type: "fail", by, reason: end.reason, detail: end.detail ?? null },
    );
    return await told(c, job_id, outcome.ok ? null : outcome.fault);
  });

  const buryRoute = createRoute({
    method: "post",
    path: "/v1/agent/jobs/{job_id}/bury",
    tags,
    summary: "Confirm that a tombstone was applied",
    ...rights(deps, "AgentBury"),
    request: { params: JobParam },
    responses: answers(Job, "The job"),
  });
  app.openapi(buryRoute, async (c) => {
    const { job_id } = c.req.valid("param");
    const outcome = await deps.sendOnce(c, { kind: "job", id: job_id }, { type: "bury", by: nodeOf(c) });
    return await told(c, job_id, outcome.ok ? null : outcome.fault);
  });

  async function told(c: Ctx, job_id: string, refusal: Fault | null) {
    if (refusal !== null) return faultResponse(c, refusal);
    const job = await deps.findOne(findJob, job_id);
    return job === null ? faultResponse(c, NOT_FOUND) : c.json(job, 200);
  }

  /** Returns a job that the calling node has claimed, or a Fault. */
  async function ownJob(c: Ctx, job_id: string): Promise<Job | Fault> {
    const job = await deps.findOne(findJob, job_id);
    if (job === null) return NOT_FOUND;
    if (job.target_cn_uuid !== nodeOf(c)) return OTHER_JOB;
    const { status } = job.status;
    if (status === "in_progress") return job;
    return conflict(status === "pending" ? "job is not claimed" : `the job is already ${status}`);
  }
}

const OTHER_NODE = fault("forbidden", "claimed_by must be the UUID of the node whose key sends the request", {
  error_code: "Forbidden",
});
const OTHER_JOB = fault("forbidden", "the job belongs to another node", { error_code: "Forbidden" });
