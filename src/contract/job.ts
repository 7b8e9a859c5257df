// Work for node agents. Document 4, 1.6, 1.8 and 1.9. What agents send may hold unknown fields, which are ignored.
import { z } from "zod";
import { Timestamp, Uuid } from "./common.ts";
import { JOB_KINDS, JOB_STATUSES } from "./enums.ts";
import { Image } from "./image.ts";
import { Disk, Instance, Nic } from "./instance.ts";
import { Subnet } from "./network.ts";
import {
  CLAIM_WAIT_S_MAX,
  JOB_REASON_CHARS_MAX,
  JOB_STEP_CHARS_MAX,
  RUNNING_JOBS_MAX,
  TOMBSTONES_PER_CLAIM,
} from "./limits.ts";

/** How far a node says it is; percent is 0 to 100, null where it cannot tell. */
export const JobProgress = z.object({ step: z.string(), percent: z.number().nullable(), updated_at: Timestamp });

/** One piece of work for a node. Document 4, 1.8. */
export const Job = z.object({
  id: z.string(),
  kind: z.looseObject({ kind: z.enum(JOB_KINDS) }).describe("With the ids of what it is about"),
  status: z.object({ status: z.enum(JOB_STATUSES), reason: z.string().optional() }),
  seq: z.number().int().describe("Claims are first in, first out"),
  created_at: Timestamp,
  claimed_at: Timestamp.nullable(),
  completed_at: Timestamp.nullable(),
  claimed_by: z.string().nullable(),
  result: z.unknown(),
  target_cn_uuid: z.string().nullable().describe("Only this node can take it"),
  operation_id: z.string().describe("The operation that waits for it"),
  lease_until: Timestamp.nullable().describe("When it fails unless its node names it in a heartbeat before"),
  tombstone: z.boolean().describe("It was taken from its node, which has still to undo its part"),
  progress: JobProgress.nullable(),
});
export type Job = z.infer<typeof Job>;

const runningJobs = z.array(Uuid).max(RUNNING_JOBS_MAX).nullish();

/** What a node asks for work with. */
export const ClaimBody = z.object({
  claimed_by: Uuid.describe("The node's own UUID"),
  wait: z.number().int().min(0).max(CLAIM_WAIT_S_MAX).nullish()
    .describe("Seconds to hold the request while there is nothing to do"),
  running_jobs: runningJobs.describe(
    "The jobs that the agent has in hand. One that the node has claimed and does not name, because the answer was " +
      "lost, is handed out again",
  ),
});
export type ClaimBody = z.input<typeof ClaimBody>;

/** What it gets: the oldest job that it may take, or null. */
export const ClaimView = z.object({
  job: Job.nullable(),
  tombstones: z.array(Job).describe(
    `Jobs that were taken from the node: it undoes its part of them before any other work and buries each. The oldest ` +
      `${TOMBSTONES_PER_CLAIM}; while there are more, there is no job`,
  ),
});
export type ClaimView = z.infer<typeof ClaimView>;

/** A sign of life of a node. */
export const HeartbeatBody = z.object({
  running_jobs: runningJobs.describe("The jobs that the agent runs: their leases are renewed, and no others"),
});
export type HeartbeatBody = z.input<typeof HeartbeatBody>;

/** How a job ended. */
export const JobOutcome = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("completed") }),
  z.object({
    kind: z.literal("failed"),
    reason: z.string().max(JOB_REASON_CHARS_MAX).describe("Shown to the tenant whose instance it is about"),
    detail: z.string().max(JOB_REASON_CHARS_MAX).nullish().describe(
      "For operators alone: shown as result.detail of the job",
    ),
  }),
]);
export type JobOutcome = z.infer<typeof JobOutcome>;
/** The end of a job. `result` is what the operation that waits for it goes on with. */
export const JobEndBody = z.object({ outcome: JobOutcome, result: z.unknown().optional() });
export type JobEndBody = z.infer<typeof JobEndBody>;
/** Where a job stands, for whoever watches its operation. */
export const JobProgressBody = z.object({
  step: z.string().min(1).max(JOB_STEP_CHARS_MAX),
  percent: z.number().min(0).max(100).nullish(),
});
export type JobProgressBody = z.input<typeof JobProgressBody>;

/** What the platform writes into a VM, so that the control plane knows its own again. */
export const ManagedIdentity = z.object({
  instance_id: z.string(),
  tenant_id: z.string(),
  project_id: z.string(),
  identity_hmac: z.string().describe("HMAC-SHA256 in hex"),
});
export type ManagedIdentity = z.infer<typeof ManagedIdentity>;

/** Document 4, 1.9. Filled for provision; other kinds have the instance and the disk or NIC they are about. */
export const Blueprint = z.object({
  job_id: z.string(),
  kind: z.looseObject({ kind: z.enum(JOB_KINDS) }),
  instance: Instance.nullable().describe("Null when it is gone; then the job cannot succeed"),
  image: Image.nullable(),
  nics: z.array(Nic),
  subnets: z.array(Subnet),
  disks: z.array(Disk),
  ssh_public_keys: z.array(z.string()),
  user_data: z.string().nullable(),
  managed_identity: ManagedIdentity.nullable(),
  imds_bindings: z.array(z.object({ pseudo_src: z.string(), port_id: z.string(), instance_id: z.string() })),
  provision_metadata: z.array(z.object({
    key: z.string(),
    value: z.unknown(),
    guest_visible: z.boolean(),
    guest_writable: z.boolean(),
    updated_by: z.string(),
    updated_at: Timestamp,
  })),
});
export type Blueprint = z.infer<typeof Blueprint>;
