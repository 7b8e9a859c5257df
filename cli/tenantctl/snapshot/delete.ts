import type { Snapshot } from "../../../src/contract/snapshot.ts";
import { type AnyCommand } from "../../framework.ts";
import { confirmOnTerminal } from "../../internal/confirmation.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { plainText } from "../../internal/plain-text.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "../instance/operation.ts";
import { withIo } from "../open-io.ts";
import { INSTANCE_FLAGS, resolveRecord } from "../record/scope.ts";
import { OF_INSTANCE_HELP, SNAPSHOT, SNAPSHOT_NAME_HELP } from "./snapshot.ts";

export function remove(): AnyCommand {
  return deleteCommand("delete", "Delete a snapshot with its data", "before-upgrade --instance web1", { asks: true })
    .argument("<snapshot>", SNAPSHOT_NAME_HELP)
    .option(INSTANCE_FLAGS, OF_INSTANCE_HELP)
    .option(...WAIT_OPTION)
    .option(...NO_WAIT_OPTION)
    .action(withIo(async (io, name, { instance, wait, yes }) => {
      const id = await resolveRecord(io, SNAPSHOT, { name, instance });
      const path = `${SNAPSHOT.path}/${id}`;
      await confirmOnTerminal(io, yes === true, async () => {
        const { name } = await io.get<Snapshot>(path);
        const warning = plainText(`The data of snapshot ${name} is lost. Its disk is not changed.`);
        return { warning, names: [name, id] };
      });
      const result = await operate<null>(io, { method: "DELETE", path }, wait);
      if (result.ended) io.say(`Snapshot ${id} deleted.`);
      else io.print(result.operation, operationText(result.operation));
    }));
}
