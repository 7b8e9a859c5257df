// Shows the creation of a NAT gateway as an operation. The first commit creates the record and takes the address. If
// the operation is abandoned before it ends, the record is removed and the address is released. A background worker
// chooses the node that runs the gateway (src/workers/nat-gateway-hosts.ts).
import { withActor } from "../engine/effects.ts";
import { saga, write } from "../engine/saga.ts";

export type NatGatewayParams = {
  readonly nat_gateway_id: string;
  readonly public_address: string;
  readonly vpc_id: string;
  readonly name: string;
  readonly family: string;
  readonly network_id: string | null;
};

/** The first step commits with the record (nat-gateway/transition.ts), so its `do` never runs. */
export const natGatewayCreate = saga<NatGatewayParams>("nat-gateway-create")
  .step("create_record", {
    do: ({ params: { nat_gateway_id, public_address } }) => write({ nat_gateway_id, public_address }),
    undo: (c) =>
      write(
        null,
        withActor({ kind: "nat-gateway", id: c.params.nat_gateway_id }, {
          type: "withdraw",
          operation_id: c.saga_id,
        }),
      ),
  })
  .step("finish", { do: (c) => write(c.create_record) });
