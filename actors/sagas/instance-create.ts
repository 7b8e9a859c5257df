// The making of an instance. Its record, with addresses, disk and room on a node, is there from the first commit on; the
// node provisions it; the end makes it running. Taken back, the record waits until the node has undone its part.
// Document 3, instance-create; document 4, 3.2.
import { INSTANCE_CREATE, type InstanceCreateParams } from "../instance/operation.ts";
import { withActor } from "../engine/effects.ts";
import { job, saga, wait, waitId, write } from "../engine/saga.ts";
import { NODE_WAIT_MS } from "../../src/contract/limits.ts";
import { instanceEnds, settled, toInstance } from "./instance-parts.ts";

/** The first two steps commit with the record (instance/creation.ts); what is written of them here is how they are undone. */
export const instanceCreate = saga<InstanceCreateParams>(INSTANCE_CREATE.saga)
  .step(INSTANCE_CREATE.record, {
    do: ({ params: { instance_id } }) => write({ instance_id }),
    undo: (c) => write(null, toInstance(c, { type: "release", operation_id: c.saga_id })),
  })
  .step(INSTANCE_CREATE.host, {
    do: ({ params: { host_cn_uuid } }) => write({ host_cn_uuid }),
    undo: (c) =>
      wait(
        NODE_WAIT_MS,
        toInstance(c, {
          type: "unwinding",
          operation_id: c.saga_id,
          reason: c.error ?? "the operation was undone",
          told_as: c.told_as,
        }),
        // The job knows whether its node has anything to undo, and tells when it has.
        withActor({ kind: "job", id: waitId(c.saga_id, INSTANCE_CREATE.job) }, {
          type: "await_burial",
          saga_id: c.saga_id,
          told_as: c.told_as,
        }),
      ),
  })
  .step(INSTANCE_CREATE.job, {
    kind: "job",
    do: ({ params: { instance_id, host_cn_uuid, limit_ms } }) =>
      job({ kind: "provision", target_cn: host_cn_uuid, payload: { instance_id }, limit_ms }),
    undo: ({ params: { instance_id, host_cn_uuid } }) =>
      job({ kind: "delete", target_cn: host_cn_uuid, payload: { instance_id }, limit_ms: NODE_WAIT_MS }),
  })
  .step("finish", { do: (c) => write(settled(c, "running"), instanceEnds(c, "running")) });
