// Start, stop, restart, reset and retry. The first commit moves the instance to an intermediate state; the end of the
// node's job moves the instance to the final state. During a reset the instance stays running (docs/instances.md,
// "States").
import { INSTANCE_LIFECYCLE, type InstanceLifecycleParams } from "../instance/operation.ts";
import { job, saga, write } from "../engine/saga.ts";
import { failed, instanceEnds, settled } from "./instance-parts.ts";

/** The job of each action, and the instance's state after the action. */
const JOB = { start: "start", retry: "start", stop: "stop", restart: "restart", reset: "reset" } as const;
const ENDS = { start: "running", retry: "running", stop: "stopped", restart: "running", reset: "running" } as const;

/** The first step commits with the instance's own message (instance/lifecycle.ts). */
export const instanceLifecycle = saga<InstanceLifecycleParams>(INSTANCE_LIFECYCLE.saga)
  .step(INSTANCE_LIFECYCLE.begun, {
    do: ({ params: { action } }) => write({ action }),
    undo: (c) => write(null, failed(c)),
  })
  .step("act", {
    kind: "job",
    follows: true,
    do: ({ params: { action, instance_id, host_cn_uuid, limit_ms } }) =>
      job({ kind: JOB[action], target_cn: host_cn_uuid, payload: { instance_id }, limit_ms }),
  })
  .step("finish", {
    follows: true,
    do: (c) => write(settled(c, ENDS[c.params.action]), instanceEnds(c, ENDS[c.params.action])),
  });
