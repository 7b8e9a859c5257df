// Enqueues jobs in the way that a saga does, and makes the calls of the node that claims them.
import { randomUUID } from "node:crypto";
import type { JobKind } from "../../src/contract/enums.ts";
import type { ClaimView, Job } from "../../src/contract/job.ts";
import { type Answer, okOf, type TestControlPlane } from "../support/control-plane.ts";

export type JobNode = Awaited<ReturnType<TestControlPlane["approvedNode"]>>;

export type Enqueued = {
  readonly kind?: JobKind;
  readonly payload?: Readonly<Record<string, unknown>>;
};

/** Enqueues a job for a node, by default without an instance. The operation that the job names does not exist. */
export async function enqueue(
  t: TestControlPlane,
  { server_uuid }: Pick<JobNode, "server_uuid">,
  { kind = "fip_release", payload = { floating_ip_id: randomUUID(), fip_addr: "203.0.113.9" } }: Enqueued = {},
): Promise<string> {
  const id = randomUUID();
  await t.db.query(
    `insert into job (id, incarnation, version, state, kind, target_cn, payload, saga_id, created_at)
       values ($1, $1, 1, 'pending', $2, $3, $4, gen_random_uuid(), berth_now())`,
    [id, kind, server_uuid, JSON.stringify(payload)],
  );
  return id;
}

/** Cancels a job that its node has claimed. The job then has a tombstone, as after a cancellation by a saga. */
export async function takeAway(t: TestControlPlane, job_id: string): Promise<void> {
  await t.db.query(
    `update job set state = 'cancelled', reason = 'not wanted', tombstone = true, completed_at = berth_now(),
       wake_at = null, version = version + 1 where id = $1`,
    [job_id],
  );
}

export function nodeCalls(t: TestControlPlane, { server_uuid, api_key: key }: JobNode) {
  const post = (path: string, body?: unknown): Promise<Answer> => t.call("POST", path, { key, body });
  return {
    ask: (body: object = {}) => post("/v1/agent/claim", { claimed_by: server_uuid, ...body }),
    claim: async (body: object = {}): Promise<ClaimView> =>
      okOf(await post("/v1/agent/claim", { claimed_by: server_uuid, ...body })),
    beat: async (running_jobs?: readonly string[]) =>
      void okOf(await post("/v1/agent/heartbeat", running_jobs && { running_jobs })),
    blueprint: (id: string) => t.call("GET", `/v1/agent/jobs/${id}/blueprint`, { key }),
    progress: (id: string, body: object) => post(`/v1/agent/jobs/${id}/progress`, body),
    complete: (id: string, result?: unknown) =>
      post(`/v1/agent/jobs/${id}/complete`, { outcome: { kind: "completed" }, result }),
    fail: (id: string, reason: string) =>
      post(`/v1/agent/jobs/${id}/complete`, { outcome: { kind: "failed", reason } }),
    bury: (id: string) => post(`/v1/agent/jobs/${id}/bury`),
  };
}

export async function showJob(t: TestControlPlane, id: string): Promise<Job> {
  return okOf(await t.call("GET", `/v1/system/jobs/${id}`));
}
