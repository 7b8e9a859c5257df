// Shows the deletion of a NAT gateway as an operation. The first commit removed the record, and has no undo.
import { saga, write } from "../engine/saga.ts";
import type { NatGatewayParams } from "./nat-gateway-create.ts";

export const natGatewayDelete = saga<NatGatewayParams>("nat-gateway-delete")
  .step("delete_record", {
    do: ({ params: { nat_gateway_id, public_address } }) => write({ nat_gateway_id, public_address }),
  })
  .step("finish", { do: (c) => write(c.delete_record) });
