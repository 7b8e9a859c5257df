// Evacuates an instance from a dead node. The first commit records another node as the instance's node, which creates
// the machine from its image (instance/evacuation.ts). A stopped instance is stopped again: the job that creates a
// machine also starts it. If the new node fails, it removes what it created, and the record names the dead node again.
import { NODE_WAIT_MS } from "../../src/contract/limits.ts";
import { job, saga, write } from "../engine/saga.ts";
import { INSTANCE_EVACUATE, type InstanceEvacuateParams } from "../instance/operation.ts";
import { settled, toInstance } from "./instance-parts.ts";

const endsIn = ({ was }: InstanceEvacuateParams) => was.state === "stopped" ? "stopped" : "running";

export const instanceEvacuate = saga<InstanceEvacuateParams>(INSTANCE_EVACUATE.saga)
  .step(INSTANCE_EVACUATE.begun, {
    do: ({ params: { source_cn, target_cn } }) => write({ source_cn, target_cn }),
    undo: (c) => {
      const { source_cn, target_cn, was } = c.params;
      const reason = c.error ?? "the operation was undone";
      return write(
        null,
        toInstance(c, { type: "evacuation_failed", operation_id: c.saga_id, source_cn, target_cn, was, reason }),
      );
    },
  })
  .step(INSTANCE_EVACUATE.provision, {
    kind: "job",
    follows: true,
    do: ({ params: { instance_id, target_cn, limit_ms } }) =>
      job<unknown>({ kind: "provision", target_cn, payload: { instance_id }, limit_ms }),
    undo: ({ params: { instance_id, target_cn } }) =>
      job({ kind: "delete", target_cn, payload: { instance_id }, limit_ms: NODE_WAIT_MS }),
  })
  .step("rest", {
    kind: "job",
    follows: true,
    do: ({ params }) => {
      const { instance_id, target_cn, limit_ms } = params;
      return endsIn(params) === "running"
        ? write<unknown>(null)
        : job<unknown>({ kind: "stop", target_cn, payload: { instance_id }, limit_ms });
    },
  })
  .step("finish", {
    follows: true,
    do: (c) => {
      const { source_cn, target_cn } = c.params;
      const to = endsIn(c.params);
      return write(
        settled(c, to),
        toInstance(c, {
          type: "evacuated",
          operation_id: c.saga_id,
          source_cn,
          target_cn,
          to,
          delete_job_id: c.id("delete"),
        }),
      );
    },
  });
