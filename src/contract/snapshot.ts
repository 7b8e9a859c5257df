// Defines the schemas of disks' snapshots (docs/instances.md, "Snapshots").
import { z } from "zod";
import { Timestamp, withDefault } from "./common.ts";
import { Labels, NewLabels } from "./labels.ts";
import { SNAPSHOT_CONSISTENCIES } from "./enums.ts";
import { Description, ResourceName } from "./tenancy.ts";

/** A snapshot: a copy of a disk at one point in time, on the node of the disk's instance. */
export const Snapshot = z.object({
  id: z.string(),
  tenant_id: z.string(),
  project_id: z.string(),
  instance_id: z.string(),
  disk_id: z.string().describe("The disk that was copied; it may be deleted by now"),
  name: z.string(),
  description: z.string(),
  labels: Labels,
  size_bytes: z.number().int(),
  consistency: z.enum(SNAPSHOT_CONSISTENCIES).nullable().describe(
    "at_rest: nothing wrote to the disk, because the guest was off or the disk was detached. frozen: the guest agent " +
      "had frozen the guest's file systems. crash: the copy is as after a power failure. Null until the copy exists",
  ),
  created_at: Timestamp,
});
export type Snapshot = z.infer<typeof Snapshot>;

/** The body that creates a snapshot. */
export const SnapshotBody = z.strictObject({
  name: ResourceName.describe("Unique among the disks and snapshots of the instance"),
  description: withDefault(Description, ""),
  labels: withDefault(NewLabels, {}),
});
export type SnapshotBody = z.infer<typeof SnapshotBody>;
