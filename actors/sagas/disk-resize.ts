// The node's part of growing a disk. No caller waits for it, and a failure undoes nothing: the record has the requested
// size and the size that the node applied (docs/instances.md, "Disks").
import { DISK_RESIZE, type DiskResizeParams } from "../instance/operation.ts";
import { job, saga, write } from "../engine/saga.ts";
import { toInstance } from "./instance-parts.ts";

/** The first step commits with the instance's own message (instance/growth.ts). */
export const diskResize = saga<DiskResizeParams>(DISK_RESIZE.saga)
  .step(DISK_RESIZE.grown, { do: ({ params: { size_bytes } }) => write({ size_bytes }) })
  .step("resize", {
    kind: "job",
    follows: true,
    do: ({ params: { instance_id, disk_id, size_bytes, host_cn_uuid, limit_ms } }) =>
      job({
        kind: "resize_disk",
        target_cn: host_cn_uuid,
        payload: { instance_id, disk_id, size_bytes },
        limit_ms,
      }),
  })
  .step("finish", {
    follows: true,
    do: (c) => {
      const { disk_id, size_bytes } = c.params;
      return write({ disk_id, size_bytes }, toInstance(c, { type: "disk_applied", disk_id, size_bytes }));
    },
  });
