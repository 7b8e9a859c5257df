// Defines the action that creates a VPC with its first subnet, for the pages of VPCs and of a new instance.
import type { Action } from "../core/action.ts";
import { Refusal, refusalOf, send } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { writersOnly } from "../core/session.ts";
import type { Place } from "./place.ts";

/**
 * Creates a VPC and its first subnet. If the subnet is refused, the VPC is deleted again, so the user can correct the
 * form and send it again.
 */
export function createVpc(place: Place): Action {
  return {
    title: "Create a VPC",
    key: "c",
    button: "Create",
    notice: "The VPC gets one subnet.",
    fields: [
      { name: "name", label: "Name", initial: "main" },
      { name: "ipv4_block", label: "IPv4 block", initial: "10.0.0.0/16" },
      { name: "subnet_block", label: "Block of the subnet", initial: "10.0.1.0/24" },
    ],
    refused: writersOnly(),
    cli: ({ name, ipv4_block, subnet_block }) =>
      [
        tenantctl("vpc create", [], { "--name": name || "NAME", "--ipv4-block": ipv4_block }),
        tenantctl("subnet create", [], {
          "--vpc": name || "NAME",
          "--name": name || "NAME",
          "--ipv4-block": subnet_block,
        }),
      ].join("\n"),
    send: async ({ name, ipv4_block, subnet_block }, key) => {
      const vpc = await send<{ id: string }>("POST", "/v1/vpcs", {
        query: { ...place },
        body: { name, ipv4_block },
        key,
      });
      const query = { vpc: vpc.id, project: place.project };
      try {
        await send("POST", "/v1/subnets", { query, body: { name, ipv4_block: subnet_block }, key: `${key}-subnet` });
      } catch (error) {
        const refusal = refusalOf(error);
        // The answer was lost, so the subnet may exist. The next attempt repeats both requests with the same keys.
        if (refusal.is_unknown) throw refusal;
        throw await undone(vpc.id, refusal, key);
      }
      return { said: `VPC ${name} is created` };
    },
  };
}

/**
 * Deletes the VPC whose subnet was refused. Returns the refusal for the form. Its message also has the error of a
 * failed delete.
 */
async function undone(vpc: string, { status, message, request_id }: Refusal, key: string): Promise<Refusal> {
  // The field of the subnet's block has another name in the form.
  const text = message.replace(/^(body\.)?ipv4_block/, "subnet_block");
  try {
    await send("DELETE", `/v1/vpcs/${vpc}`, { key: `${key}-undo` });
    return new Refusal(status, text, request_id);
  } catch (error) {
    // An earlier attempt may have created a subnet although its answer was lost. A VPC with a subnet cannot be deleted.
    return new Refusal(
      status,
      `${text}. The VPC exists and could not be deleted: ${refusalOf(error).message}`,
      request_id,
    );
  }
}
