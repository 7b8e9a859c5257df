// Shows the allocation of a floating IP as an operation. The first commit creates the record and takes the address. If
// the operation is abandoned before it ends, the record is removed and the address is released.
import { withActor } from "../engine/effects.ts";
import { saga, write } from "../engine/saga.ts";
import { FLOATING_IP_ALLOCATE } from "../floating-ip/operation.ts";

export type FloatingIpParams = {
  readonly floating_ip_id: string;
  readonly address: string;
  readonly name: string;
  readonly family: string;
  readonly network_id: string | null;
};

/** The first step commits with the record (floating-ip/creation.ts), so its `do` never runs. */
export const floatingIpAllocate = saga<FloatingIpParams>(FLOATING_IP_ALLOCATE.saga)
  .step(FLOATING_IP_ALLOCATE.record, {
    do: ({ params: { floating_ip_id, address } }) => write({ floating_ip_id, address }),
    undo: (c) =>
      write(
        null,
        withActor({ kind: "floating-ip", id: c.params.floating_ip_id }, {
          type: "withdraw",
          operation_id: c.saga_id,
        }),
      ),
  })
  .step("finish", { do: (c) => write(c.allocate) });
