// Defines the schemas of node agents' jobs (docs/instances.md, "Jobs"). The server ignores unknown fields in request
// bodies from agents.
import { z } from "zod";
import { Timestamp, Uuid } from "./common.ts";
import { ConsoleCall } from "./console.ts";
import { JOB_KINDS, JOB_STATUSES } from "./enums.ts";
import { Image } from "./image.ts";
import { Disk, Instance, Nic } from "./instance.ts";
import { Subnet } from "./network.ts";
import {
  CLAIM_WAIT_S_MAX,
  CONSOLE_CALLS_MAX,
  JOB_REASON_CHARS_MAX,
  JOB_STEP_CHARS_MAX,
  RUNNING_JOBS_MAX,
  TOMBSTONES_PER_CLAIM,
} from "./limits.ts";

/** The progress that a node reports. `percent` is 0 to 100, or null if unknown. */
export const JobProgress = z.object({ step: z.string(), percent: z.number().nullable(), updated_at: Timestamp });

/** A job: one piece of work for a node. */
export const Job = z.object({
  id: z.string(),
  kind: z.looseObject({ kind: z.enum(JOB_KINDS) }).describe(
    "The kind of work, with the ids of the objects that the job acts on",
  ),
  status: z.object({ status: z.enum(JOB_STATUSES), reason: z.string().optional() }),
  seq: z.number().int().describe("Jobs are claimed in this order"),
  created_at: Timestamp,
  claimed_at: Timestamp.nullable(),
  completed_at: Timestamp.nullable(),
  claimed_by: z.string().nullable(),
  result: z.unknown(),
  target_cn_uuid: z.string().nullable().describe("Only this node can claim the job"),
  operation_id: z.string().describe("The operation that the job belongs to"),
  lease_until: Timestamp.nullable().describe(
    "The job fails at this time, unless its node renews the lease before then",
  ),
  tombstone: z.boolean().describe(
    "True if the job was cancelled or its lease expired, until its node confirms that the job is undone",
  ),
  progress: JobProgress.nullable(),
});
export type Job = z.infer<typeof Job>;

const runningJobs = z.array(Uuid).max(RUNNING_JOBS_MAX).nullish();

/** A node's request for work. */
export const ClaimBody = z.object({
  claimed_by: Uuid.describe("The node's own UUID"),
  wait: z.number().int().min(0).max(CLAIM_WAIT_S_MAX).nullish()
    .describe("Seconds to wait for a job"),
  running_jobs: runningJobs.describe(
    "The jobs that the agent is running. If the answer with a job was lost, the job is missing here, and the server " +
      "returns the job again",
  ),
  known_consoles: z.array(Uuid).max(CONSOLE_CALLS_MAX).nullish().describe(
    "The sessions of the console calls that the agent already has. If the answer with a call was lost, the call is " +
      "missing here, and the server returns the call again. Absent: the agent does not support consoles and gets no " +
      "calls",
  ),
});
export type ClaimBody = z.input<typeof ClaimBody>;

/**
 * The answer to a request for work. `job` is a job that the node has claimed now or before; null if there is no job.
 */
export const ClaimView = z.object({
  job: Job.nullable(),
  tombstones: z.array(Job).describe(
    `Cancelled and expired jobs. The node undoes its work for each of them and confirms the undo before it starts ` +
      `another job for the same object. At most the oldest ${TOMBSTONES_PER_CLAIM}; while there are more, \`job\` is null`,
  ),
  consoles: z.array(ConsoleCall).optional().describe(
    "Console calls. For each call, the node at once opens a WebSocket to GET /v1/agent/consoles/{session_id}",
  ),
});
export type ClaimView = z.infer<typeof ClaimView>;

/** A heartbeat of a node. */
export const HeartbeatBody = z.object({
  running_jobs: runningJobs.describe("The jobs that the agent is running; only their leases are renewed"),
});
export type HeartbeatBody = z.input<typeof HeartbeatBody>;

/** The outcome of a job. */
export const JobOutcome = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("completed") }),
  z.object({
    kind: z.literal("failed"),
    reason: z.string().max(JOB_REASON_CHARS_MAX).describe("Shown to the tenant of the instance"),
    detail: z.string().max(JOB_REASON_CHARS_MAX).nullish().describe(
      "For operators only, as result.detail of the job",
    ),
  }),
]);
export type JobOutcome = z.infer<typeof JobOutcome>;
/** The body that ends a job. After a completed job, the operation that waits for the job continues with `result`. */
export const JobEndBody = z.object({ outcome: JobOutcome, result: z.unknown().optional() });
export type JobEndBody = z.infer<typeof JobEndBody>;
/** The body that reports the progress of a job. */
export const JobProgressBody = z.object({
  step: z.string().min(1).max(JOB_STEP_CHARS_MAX),
  percent: z.number().min(0).max(100).nullish(),
});
export type JobProgressBody = z.input<typeof JobProgressBody>;

/**
 * The identity that a node writes into a VM. By this identity, the control plane recognizes the VMs that it created.
 */
export const ManagedIdentity = z.object({
  instance_id: z.string(),
  tenant_id: z.string(),
  project_id: z.string(),
  identity_hmac: z.string().describe("HMAC-SHA256 in hex"),
});
export type ManagedIdentity = z.infer<typeof ManagedIdentity>;

/**
 * The data that a node needs for a job. Fields that a kind of job does not need are empty, null or missing:
 * - Every job has `job_id` and `kind`, and a job about an instance has `instance`.
 * - provision and migrate_receive have all data of the new machine.
 * - create_disk and rebuild have the image.
 * - start and rebuild have the NICs and their subnets.
 * - migrate_receive and migrate_send have the ticket.
 */
export const Blueprint = z.object({
  job_id: z.string(),
  kind: z.looseObject({ kind: z.enum(JOB_KINDS) }),
  instance: Instance.nullable().describe(
    "Null if the job is not about an instance, or the instance no longer exists; a job that needs the instance then fails",
  ),
  image: Image.nullable(),
  nics: z.array(Nic),
  subnets: z.array(Subnet),
  disks: z.array(Disk),
  ssh_public_keys: z.array(z.string()),
  user_data: z.string().nullable(),
  managed_identity: ManagedIdentity.nullable(),
  migration_ticket: z.string().nullish().describe("Secret that the source of a migration shows to the target"),
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
