import { type AnyCommand, command } from "../../framework.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "../instance/operation.ts";
import { withIo } from "../open-io.ts";
import { INSTANCE_FLAGS, resolveRecord } from "../record/scope.ts";
import { OF_INSTANCE_HELP, SNAPSHOT, SNAPSHOT_NAME_HELP } from "./snapshot.ts";

export function remove(): AnyCommand {
  return command("delete", "Delete a snapshot with its data", "before-upgrade --instance web1")
    .argument("<snapshot>", SNAPSHOT_NAME_HELP)
    .option(INSTANCE_FLAGS, OF_INSTANCE_HELP)
    .option(...WAIT_OPTION)
    .option(...NO_WAIT_OPTION)
    .action(withIo(async (io, name, { instance, wait }) => {
      const id = await resolveRecord(io, SNAPSHOT, { name, instance });
      const result = await operate<null>(io, { method: "DELETE", path: `${SNAPSHOT.path}/${id}` }, wait);
      // Every `delete` command prints this line in every output format.
      if (result.ended) io.say(`Snapshot ${id} deleted.`);
      else io.print(result.operation, operationText(result.operation));
    }));
}
