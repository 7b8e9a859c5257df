// Defines the schemas of instances' migrations between nodes (docs/instances.md, "Migration").
import { z } from "zod";
import { Timestamp, Uuid } from "./common.ts";
import { MIGRATION_STATES } from "./enums.ts";
import { BANDWIDTH_BYTES_PER_S, BANDWIDTH_BYTES_PER_S_MIN } from "./limits.ts";
import { JobProgress } from "./job.ts";

/** The body that starts a migration. */
export const MigrateBody = z.strictObject({
  target_server_uuid: Uuid.nullish().describe(
    "The node to which the instance moves. Only operators may choose it. Default: the best node",
  ),
  bandwidth_bytes_per_s: z.number().int().min(BANDWIDTH_BYTES_PER_S_MIN).nullish().describe(
    `The maximum number of bytes per second that the node sends. Default: ${BANDWIDTH_BYTES_PER_S}`,
  ),
});
export type MigrateBody = z.infer<typeof MigrateBody>;

/** The answer to the start of a migration. The migration and its operation have the same id. */
export const MigrationStarted = z.object({
  migration_id: z.string(),
  operation_id: z.string().describe("The operation instance-migrate, which ends with the migration"),
});
export type MigrationStarted = z.infer<typeof MigrationStarted>;

/** A migration of an instance. */
export const Migration = z.object({
  id: z.string(),
  instance_id: z.string(),
  state: z.enum(MIGRATION_STATES),
  source_server_uuid: z.string(),
  target_server_uuid: z.string(),
  live: z.boolean().describe("Whether the guest ran during the migration"),
  reason: z.string().nullable().describe("Why the migration failed"),
  progress: JobProgress.nullable().describe("The progress of the source node; null until it begins"),
  sent_bytes: z.number().int().nullable().describe(
    "Bytes of disks and memory that the source node sent; null until it has sent all",
  ),
  downtime_ms: z.number().int().nullable().describe(
    "Time for which the guest was paused; null until the target node has started the guest, and null for a stopped " +
      "instance",
  ),
  created_at: Timestamp,
  ended_at: Timestamp.nullable(),
});
export type Migration = z.infer<typeof Migration>;
