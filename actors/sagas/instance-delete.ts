// Deletes an instance: its node deletes the machine, then the record is removed and its addresses, disks, capacity and
// bindings are released. An instance without a node needs no job. A forced delete releases everything in the commit
// that starts this saga (docs/instances.md, "Delete").
import { INSTANCE_DELETE, type InstanceDeleteParams } from "../instance/operation.ts";
import { job, saga, write } from "../engine/saga.ts";
import { failed, toInstance } from "./instance-parts.ts";

/** The first step commits with the instance's own message (instance/removal.ts). */
export const instanceDelete = saga<InstanceDeleteParams>(INSTANCE_DELETE.saga)
  .step(INSTANCE_DELETE.begun, {
    do: ({ params: { instance_id } }) => write({ instance_id }),
    undo: (c) => write(null, failed(c)),
  })
  .step(INSTANCE_DELETE.job, {
    kind: "job",
    follows: true,
    do: ({ params: { instance_id, host_cn_uuid, limit_ms } }) =>
      host_cn_uuid === null
        ? write<unknown>(null)
        : job<unknown>({ kind: "delete", target_cn: host_cn_uuid, payload: { instance_id }, limit_ms }),
  })
  .step(INSTANCE_DELETE.released, {
    do: (c) => write({ released: true }, toInstance(c, { type: "release", operation_id: c.saga_id })),
  })
  .step("finish", { follows: true, do: ({ params: { instance_id } }) => write({ instance_id }) });
