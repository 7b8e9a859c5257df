// Evacuates an instance from a dead node. The first commit records another node as the instance's node. This node then
// creates the machine from the instance's image (instance/evacuation.ts). The job that creates a machine also starts
// it. So if the instance was stopped before, a further job stops it. If the new node fails, it gets the job to remove
// what it created, and the record names the dead node again.
import { withNewActor } from "../engine/effects.ts";
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
    // The undo does not wait for the new node, which may have died too. If the undo waited, the instance could not be
    // evacuated again.
    undo: (c) => {
      const { instance_id, target_cn } = c.params;
      const id = c.id("delete");
      const order = { type: "enqueue", id, kind: "delete", target_cn, payload: { instance_id }, saga_id: c.saga_id };
      return write(null, withNewActor({ kind: "job", id }, order));
    },
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
