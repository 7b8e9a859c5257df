// Attaches a floating IP to a NIC. If the floating IP is attached to another NIC, the old node first releases the
// address, so that two nodes do not answer for it at the same time. The operation does not wait for an old node that is
// not live. If the new node fails, the old node binds the address again (docs/networking.md, "Floating IPs").
import { job, saga, write } from "../engine/saga.ts";
import {
  claimOrder,
  failedRelease,
  FLOATING_IP_ATTACH,
  type FloatingIpAttachParams,
  releaseOrder,
  sent,
} from "../floating-ip/operation.ts";
import { letGo, restored, settled, takeBack, toFloatingIp } from "./floating-ip-parts.ts";

/** The first step commits with the floating IP's own message (floating-ip/binding.ts). */
export const floatingIpAttach = saga<FloatingIpAttachParams>(FLOATING_IP_ATTACH.saga)
  .step(FLOATING_IP_ATTACH.bound, {
    do: ({ params: { to } }) => write(to),
    undo: (c) => write(null, restored(c)),
  })
  .step("release", { kind: "job", do: (c) => letGo(c), undo: (c) => takeBack(c) })
  .step("claim", {
    kind: "job",
    do: ({ params: { bound, to, limit_ms } }) =>
      to === null ? write<unknown>(null) : job<unknown>({ ...claimOrder(bound, to), limit_ms }),
    // If the floating IP had no binding before, the network documents of the new node have the address until the undo
    // of the first step. So that undo enqueues the release, not the undo of this step: otherwise the node could release
    // the address and then get a document that still has it.
    undo: ({ params: { bound, to, held }, saga_id: operation_id }) =>
      to === null || held === null
        ? write(null)
        : write(null, sent(releaseOrder(bound, to), { id: failedRelease(operation_id), operation_id })),
  })
  .step("finish", {
    do: (c) => write(settled(c), toFloatingIp(c, { type: "attached", operation_id: c.saga_id })),
  });
