// Creates, attaches, detaches or deletes a data disk, or creates or deletes a snapshot. The first commit occupies the
// instance (OperationKind in instance/operation.ts); the end of the node's job changes the record of the disk or
// snapshot. After a failed create, the record of the disk or snapshot is removed. Any other failed operation leaves the
// record as it was (docs/instances.md, "Data disks").
import { SNAPSHOT_CONSISTENCIES, type SnapshotConsistency } from "../../src/contract/enums.ts";
import type { Disk } from "../../src/contract/instance.ts";
import type { Snapshot } from "../../src/contract/snapshot.ts";
import { job, saga, write } from "../engine/saga.ts";
import { DISK_CHANGE, type DiskChangeParams } from "../instance/operation.ts";
import { toInstance } from "./instance-parts.ts";

type Output = { readonly disk: Disk } | { readonly snapshot: Snapshot };

/** The first step commits with the instance's own message (instance/data-disks.ts). */
export const diskChange = saga<DiskChangeParams>(DISK_CHANGE.saga)
  .step(DISK_CHANGE.begun, {
    do: ({ params: { disk } }) => write({ disk_id: disk.id }),
    undo: (c) => {
      const reason = c.error ?? "the operation was undone";
      const { id: disk_id } = c.params.disk;
      return write(null, toInstance(c, { type: "disk_unchanged", operation_id: c.saga_id, disk_id, reason }));
    },
  })
  .step("act", {
    kind: "job",
    follows: true,
    do: ({ params: { action, instance_id, disk, source, host_cn_uuid, limit_ms } }) => {
      const { id: disk_id, name, size_bytes } = disk;
      const created = action === "create_disk" || action === "create_snapshot" ? { name, size_bytes, ...source } : {};
      const payload = { instance_id, disk_id, ...created };
      return job<unknown>({ kind: action, target_cn: host_cn_uuid, payload, limit_ms });
    },
  })
  .step("finish", {
    follows: true,
    do: (c) => {
      const { action, disk } = c.params;
      const change = { type: "disk_changed", operation_id: c.saga_id, disk_id: disk.id } as const;
      // The reply to a caller that repeats the request later: the disk or snapshot as the operation left it.
      if (!("attached" in disk)) {
        const made = action === "create_snapshot" ? { consistency: consistencyOf(c.act) } : {};
        return write<Output>({ snapshot: { ...disk, ...made } }, toInstance(c, { ...change, ...made }));
      }
      const created = action === "create_disk" ? { created_bytes: disk.size_bytes } : {};
      const changed = toInstance(c, { ...change, ...created });
      const attached = action === "create_disk" || action === "attach_disk";
      return write<Output>(
        { disk: { ...disk, attached, applied_bytes: disk.applied_bytes ?? disk.size_bytes } },
        changed,
      );
    },
  });

/**
 * Reads the node's result. If the result has no known value, the snapshot counts as crash-consistent, which promises
 * the least.
 */
function consistencyOf(result: unknown): SnapshotConsistency {
  const found = (result as { readonly consistency?: unknown } | null)?.consistency;
  return SNAPSHOT_CONSISTENCIES.find((each) => each === found) ?? "crash";
}
