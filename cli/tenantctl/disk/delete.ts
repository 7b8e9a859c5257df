import { type AnyCommand, command } from "../../framework.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "../instance/operation.ts";
import { withIo } from "../open-io.ts";
import { INSTANCE_FLAGS, resolveRecord } from "../record/scope.ts";
import { DISK, DISK_NAME_HELP, OF_INSTANCE_HELP } from "./disk.ts";

export function remove(): AnyCommand {
  return command("delete", "Delete a detached data disk with its data", "data --instance web1")
    .argument("<disk>", DISK_NAME_HELP)
    .option(INSTANCE_FLAGS, OF_INSTANCE_HELP)
    .option(...WAIT_OPTION)
    .option(...NO_WAIT_OPTION)
    .action(withIo(async (io, name, { instance, wait }) => {
      const id = await resolveRecord(io, DISK, { name, instance });
      const result = await operate<null>(io, { method: "DELETE", path: `${DISK.path}/${id}` }, wait);
      // Every `delete` command prints this line in every output format.
      if (result.ended) io.say(`Disk ${id} deleted.`);
      else io.print(result.operation, operationText(result.operation));
    }));
}
