// The mark of a NAT gateway's deletion among the operations. The record and its address went with the first commit, for
// which there is no undo. Document 4, 3.2.
import { saga, write } from "../engine/saga.ts";
import type { NatGatewayParams } from "./nat-gateway-create.ts";

export const natGatewayDelete = saga<NatGatewayParams>("nat-gateway-delete")
  .step("delete_record", {
    do: ({ params: { nat_gateway_id, public_address } }) => write({ nat_gateway_id, public_address }),
  })
  .step("finish", { do: (c) => write(c.delete_record) });
