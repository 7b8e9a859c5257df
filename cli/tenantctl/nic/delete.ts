import { type AnyCommand } from "../../framework.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { withIo } from "../open-io.ts";
import { INSTANCE_FLAGS, resolveRecord } from "../record/scope.ts";
import { NIC, NIC_NAME_HELP, OF_INSTANCE_HELP } from "./nic.ts";

export function remove(): AnyCommand {
  return deleteCommand("delete", "Remove a NIC from a stopped instance", "backend --instance web1")
    .argument("<nic>", NIC_NAME_HELP)
    .option(INSTANCE_FLAGS, OF_INSTANCE_HELP)
    .action(withIo(async (io, name, { instance }) => {
      const id = await resolveRecord(io, NIC, { name, instance });
      await io.send<null>({ method: "DELETE", path: `${NIC.path}/${id}` });
      io.say(`NIC ${id} deleted.`);
    }));
}
