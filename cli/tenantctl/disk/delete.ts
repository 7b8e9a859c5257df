import type { Disk } from "../../../src/contract/instance.ts";
import { type AnyCommand } from "../../framework.ts";
import { confirmOnTerminal } from "../../internal/confirmation.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { plainText } from "../../internal/plain-text.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "../instance/operation.ts";
import { withIo } from "../open-io.ts";
import { INSTANCE_FLAGS, resolveRecord } from "../record/scope.ts";
import { DISK, DISK_NAME_HELP, OF_INSTANCE_HELP } from "./disk.ts";

export function remove(): AnyCommand {
  return deleteCommand("delete", "Delete a detached data disk with its data", "data --instance web1", { asks: true })
    .argument("<disk>", DISK_NAME_HELP)
    .option(INSTANCE_FLAGS, OF_INSTANCE_HELP)
    .option(...WAIT_OPTION)
    .option(...NO_WAIT_OPTION)
    .action(withIo(async (io, name, { instance, wait, yes }) => {
      const id = await resolveRecord(io, DISK, { name, instance });
      const path = `${DISK.path}/${id}`;
      await confirmOnTerminal(io, yes === true, async () => {
        const { name } = await io.get<Disk>(path);
        const warning = plainText(`The data on disk ${name} is lost.`);
        return { warning, names: [name, id] };
      });
      const result = await operate<null>(io, { method: "DELETE", path }, wait);
      if (result.ended) io.say(`Disk ${id} deleted.`);
      else io.print(result.operation, operationText(result.operation));
    }));
}
