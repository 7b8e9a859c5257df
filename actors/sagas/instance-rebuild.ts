// The rebuild of an instance. The first commit occupies the instance; the node's job replaces the boot disk. A stopped
// instance stays stopped, any other one runs afterwards (docs/instances.md, "Rebuild").
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
      const boot = endsIn(params) === "running";
      const payload = { instance_id, image_id, disk_id: disk.id, size_bytes: disk.size_bytes, boot };
      return job<unknown>({ kind: "rebuild", target_cn: host_cn_uuid, payload, limit_ms });
    },
  })
  .step("finish", {
    follows: true,
    do: (c) => {
      const { image_id } = c.params;
      const to = endsIn(c.params);
      return write(settled(c, to), toInstance(c, { type: "rebuilt", operation_id: c.saga_id, image_id, to }));
    },
  });
