// The making of a NAT gateway among the operations. The record and its address are there from the first commit on; who
// abandons the operation before it ends gets both taken back. Document 4, 3.2. Nodes realise a gateway when the first
// route points at it.
import { withActor } from "../engine/effects.ts";
import { saga, write } from "../engine/saga.ts";

export type NatGatewayParams = {
  readonly nat_gateway_id: string;
  readonly public_address: string;
  readonly vpc_id: string;
  readonly name: string;
  readonly family: string;
};

/** The first step commits with the record (nat-gateway/transition.ts); what is written of it here is how it is undone. */
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
