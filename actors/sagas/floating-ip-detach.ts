// Detaches a floating IP: first on its node, then in the record. The operation does not wait for a node that is not
// live (docs/networking.md, "Floating IPs").
import { saga, write } from "../engine/saga.ts";
import { FLOATING_IP_DETACH, type FloatingIpDetachParams } from "../floating-ip/operation.ts";
import { letGo, restored, settled, takeBack, toFloatingIp } from "./floating-ip-parts.ts";

/** The first step commits with the floating IP's own message (floating-ip/binding.ts). */
export const floatingIpDetach = saga<FloatingIpDetachParams>(FLOATING_IP_DETACH.saga)
  .step(FLOATING_IP_DETACH.begun, {
    do: ({ params: { held } }) => write(held),
    undo: (c) => write(null, restored(c)),
  })
  .step("release", { kind: "job", do: (c) => letGo(c), undo: (c) => takeBack(c) })
  .step("finish", {
    do: (c) => write(settled(c), toFloatingIp(c, { type: "detached", operation_id: c.saga_id })),
  });
