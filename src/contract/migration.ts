// Migrations of instances between nodes (docs/instances.md, "Migration").
import { z } from "zod";
import { Timestamp } from "./common.ts";
import { MIGRATION_STATES } from "./enums.ts";
import { BANDWIDTH_BYTES_PER_S, BANDWIDTH_BYTES_PER_S_MIN } from "./limits.ts";
import { JobProgress } from "./job.ts";

/** The body that starts a migration. */
export const MigrateBody = z.strictObject({
  target_server_uuid: z.guid().nullish().describe(
    "The node to move to. Only operators may name one; default: the best node",
  ),
  bandwidth_bytes_per_s: z.number().int().min(BANDWIDTH_BYTES_PER_S_MIN).nullish().describe(
    `Most bytes per second that the node sends; default: ${BANDWIDTH_BYTES_PER_S}`,
  ),
});
export type MigrateBody = z.infer<typeof MigrateBody>;

/** The answer to the start of a migration. Both ids are equal. */
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
  live: z.boolean().describe("Whether the guest ran while it moved"),
  reason: z.string().nullable().describe("Why it failed"),
  progress: JobProgress.nullable().describe("Progress of the source; null before it begins"),
  sent_bytes: z.number().int().nullable().describe(
    "Bytes of disks and memory that the source sent; null until it ended",
  ),
  downtime_ms: z.number().int().nullable().describe(
    "Time for which the guest was paused; null until the target has started it, and for a stopped instance",
  ),
  created_at: Timestamp,
  ended_at: Timestamp.nullable(),
});
export type Migration = z.infer<typeof Migration>;
