// Creates an instance. The first commit writes the record, and takes the addresses, the disk and capacity of a node.
// Then the node provisions the instance. The last step sets the instance to running. When the saga unwinds, the record
// stays until the node has undone its part (docs/instances.md, "Create").
import { INSTANCE_CREATE, type InstanceCreateParams } from "../instance/operation.ts";
import { withActor } from "../engine/effects.ts";
import { job, saga, wait, waitId, write } from "../engine/saga.ts";
import { NODE_WAIT_MS } from "../../src/contract/limits.ts";
import { instanceEnds, settled, toInstance } from "./instance-parts.ts";

/** The first two steps commit with the record (instance/creation.ts), so their `do` never runs. */
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
        // The job knows whether its node has something to undo, and reports to the saga when the node has undone it.
        withActor({ kind: "job", id: waitId(c.saga_id, INSTANCE_CREATE.job) }, {
          type: "await_burial",
          saga_id: c.saga_id,
          told_as: c.told_as,
        }),
      ),
  })
  .step(INSTANCE_CREATE.job, {
    kind: "job",
    follows: true,
    do: ({ params: { instance_id, host_cn_uuid, limit_ms } }) =>
      job({ kind: "provision", target_cn: host_cn_uuid, payload: { instance_id }, limit_ms }),
    undo: ({ params: { instance_id, host_cn_uuid } }) =>
      job({ kind: "delete", target_cn: host_cn_uuid, payload: { instance_id }, limit_ms: NODE_WAIT_MS }),
  })
  .step("finish", { follows: true, do: (c) => write(settled(c, "running"), instanceEnds(c, "running")) });
