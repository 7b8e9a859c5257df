// Attaches a floating IP to a NIC. If the floating IP is attached to another NIC, the old node first releases the
// address, so that two nodes do not answer for it at the same time. The operation does not wait for an old node that is
// not live. If the new node fails, the old node binds the address again (docs/networking.md, "Floating IPs").
import { NODE_WAIT_MS } from "../../src/contract/limits.ts";
import { job, saga, write } from "../engine/saga.ts";
import { claimOrder, FLOATING_IP_ATTACH, type FloatingIpAttachParams, releaseOrder } from "../floating-ip/operation.ts";
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
    undo: ({ params: { bound, to } }) =>
      to === null ? write(null) : job({ ...releaseOrder(bound, to), limit_ms: NODE_WAIT_MS }),
  })
  .step("finish", {
    do: (c) => write(settled(c), toFloatingIp(c, { type: "attached", operation_id: c.saga_id })),
  });
