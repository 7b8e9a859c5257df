// Answers the claims of nodes: the next job, the tombstones (jobs that the node must undo), and the console calls
// (docs/instances.md, "Jobs").
import { findJob, findWork } from "../../actors/job/reads.ts";
import { NODE_NOT_APPROVED } from "../../actors/job/transition.ts";
import { type Fault, isFault } from "../contract/fault.ts";
import type { ClaimView } from "../contract/job.ts";
import { TOMBSTONES_PER_CLAIM } from "../contract/limits.ts";
import type { Ctx, RouteDeps, Writes } from "../routes/deps.ts";
import { consoleCalls } from "./console-calls.ts";

type Deps = Writes & Pick<RouteDeps, "settings" | "workOf">;

export type Asked = {
  readonly server_uuid: string;
  /** The jobs that the agent has; null for an agent that sends no list. */
  readonly running: readonly string[] | null;
  /** The console calls that the agent has; null for an agent that does not support consoles. */
  readonly consoles: readonly string[] | null;
};

export type JobClaims = {
  /**
   * Answers a claim when it arrives. Does the same as `next` if the node has work, or if the agent has forgotten a
   * claimed job. Otherwise returns NOTHING_TO_DO. Returns a Fault if the node is not approved.
   */
  first(c: Ctx, asked: Asked): Promise<ClaimView | Fault>;
  /**
   * Returns the tombstones, a job and the console calls of a node. If there are more tombstones than an answer can
   * contain, the answer has no job. The job is the first one that the agent has forgotten. If the agent has forgotten
   * none, the server claims the next pending job for the node.
   */
  next(c: Ctx, asked: Asked): Promise<ClaimView | Fault>;
};

export function createJobClaims(deps: Deps): JobClaims {
  async function first(c: Ctx, asked: Asked): Promise<ClaimView | Fault> {
    const node = await deps.workOf(asked.server_uuid);
    if (node?.state !== "approved") return NODE_NOT_APPROVED;
    const { running } = asked;
    const forgets = running !== null && node.claimed.some((id) => !running.includes(id));
    return node.busy || forgets ? await next(c, asked) : NOTHING_TO_DO;
  }

  async function next(c: Ctx, asked: Asked): Promise<ClaimView | Fault> {
    const [work, consoles] = await Promise.all([claimJob(c, asked), consoleCalls(c, deps, asked)]);
    return isFault(work) || consoles.length === 0 ? work : { ...work, consoles };
  }

  async function claimJob(c: Ctx, { server_uuid, running }: Asked): Promise<ClaimView | Fault> {
    const [work, { value: lease_s }] = await Promise.all([
      findWork(deps.byKey, { server_uuid, running, tombstones_max: TOMBSTONES_PER_CLAIM }),
      deps.settings.get("sweeper.stale_claim_threshold_secs"),
    ]);
    if (work.node_state !== "approved") return NODE_NOT_APPROVED;
    const tombstones = work.tombstones.slice(0, TOMBSTONES_PER_CLAIM);
    if (work.tombstones.length > tombstones.length) return { job: null, tombstones };
    const [again] = work.forgotten;
    if (again !== undefined) return { job: again, tombstones };
    for (const id of work.pending) {
      const message = { type: "claim", by: server_uuid, lease_s: Number(lease_s) } as const;
      const outcome = await deps.send(c, { kind: "job", id }, message);
      if (outcome.ok) return { job: await deps.findOne(findJob, id), tombstones };
      // Another request has claimed the job, or the job's object does not accept the claim now. Tries the next job.
      if (outcome.fault.kind !== "conflict" && outcome.fault.kind !== "not_found") return outcome.fault;
    }
    return { job: null, tombstones };
  }

  return { first, next };
}

export function hasWork({ job, tombstones, consoles = [] }: ClaimView): boolean {
  return job !== null || tombstones.length > 0 || consoles.length > 0;
}

export const NOTHING_TO_DO: ClaimView = { job: null, tombstones: [] };
