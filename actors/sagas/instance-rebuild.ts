// Rebuilds an instance. The first commit occupies the instance (OperationKind in instance/operation.ts); the node's job
// replaces the boot disk, and the end of the job changes the image in the record. If the instance was stopped, it stays
// stopped. Otherwise a separate job starts it. So the record names the image of the disk even if the start fails
// (docs/instances.md, "Rebuild").
import { job, saga, write } from "../engine/saga.ts";
import { INSTANCE_REBUILD, type InstanceRebuildParams } from "../instance/operation.ts";
import { settled, toInstance } from "./instance-parts.ts";

const endsIn = ({ was }: InstanceRebuildParams) => was.state === "stopped" ? "stopped" : "running";

/** The first step commits with the instance's own message (instance/rebuild.ts). */
export const instanceRebuild = saga<InstanceRebuildParams>(INSTANCE_REBUILD.saga)
  .step(INSTANCE_REBUILD.begun, {
    do: ({ params: { image_id } }) => write({ image_id }),
    undo: (c) => {
      const reason = c.error ?? "the operation was undone";
      const { was } = c.params;
      return write(null, toInstance(c, { type: "rebuild_failed", operation_id: c.saga_id, was, reason }));
    },
  })
  .step("rebuild", {
    kind: "job",
    follows: true,
    do: ({ params }) => {
      const { instance_id, image_id, disk, host_cn_uuid, limit_ms } = params;
      const payload = { instance_id, image_id, disk_id: disk.id, size_bytes: disk.size_bytes, boot: false };
      return job<unknown>({ kind: "rebuild", target_cn: host_cn_uuid, payload, limit_ms });
    },
  })
  .step("record_image", {
    follows: true,
    do: (c) => {
      const { image_id } = c.params;
      return write({ image_id }, toInstance(c, { type: "boot_disk_replaced", operation_id: c.saga_id, image_id }));
    },
  })
  // This step does not set `follows`. For a stopped instance this step has no job, so one commit would contain the
  // steps `record_image` and `finish`. Both change the instance, and one commit may change the instance only once.
  .step("start", {
    kind: "job",
    do: ({ params }) => {
      const { instance_id, host_cn_uuid, limit_ms } = params;
      return endsIn(params) === "stopped"
        ? write<unknown>(null)
        : job<unknown>({ kind: "start", target_cn: host_cn_uuid, payload: { instance_id }, limit_ms });
    },
  })
  .step("finish", {
    follows: true,
    do: (c) => {
      const to = endsIn(c.params);
      return write(settled(c, to), toInstance(c, { type: "rebuilt", operation_id: c.saga_id, to }));
    },
  });
