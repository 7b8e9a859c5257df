// Creates, attaches, detaches or deletes a data disk. The first commit occupies the instance; the end of the node's job
// changes the record of the disk. A failed operation leaves the disk as it was, and a disk that could not be created is
// removed (docs/instances.md, "Data disks").
import { job, saga, write } from "../engine/saga.ts";
import { DISK_CHANGE, type DiskChangeParams } from "../instance/operation.ts";
import { toInstance } from "./instance-parts.ts";

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
    do: ({ params: { action, instance_id, disk, host_cn_uuid, limit_ms } }) => {
      const { id: disk_id, name, size_bytes } = disk;
      const created = action === "create_disk" ? { name, size_bytes } : {};
      return job({ kind: action, target_cn: host_cn_uuid, payload: { instance_id, disk_id, ...created }, limit_ms });
    },
  })
  .step("finish", {
    follows: true,
    do: (c) => {
      const { action, disk } = c.params;
      const changed = toInstance(c, { type: "disk_changed", operation_id: c.saga_id, disk_id: disk.id });
      // The reply to a caller that repeats the request later: the disk as the operation left it.
      const attached = action === "create_disk" || action === "attach_disk";
      return write({ disk: { ...disk, attached, applied_bytes: disk.applied_bytes ?? disk.size_bytes } }, changed);
    },
  });
