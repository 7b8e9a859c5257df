import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { INSTANCE } from "./instance.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "./operation.ts";

export function remove(): AnyCommand {
  return command("delete", "Delete a stopped or failed instance with its disks and addresses", "web1")
    .argument("<instance>", NAME_HELP)
    .option("--force", "for operators: delete it in any state, without waiting for its node")
    .option(...WAIT_OPTION)
    .option(...NO_WAIT_OPTION)
    .action(withIo(async (io, name, { force, wait }) => {
      const id = await resolveInstance(io, name);
      const query = { force: String(force === true) };
      const result = await operate<null>(io, { method: "DELETE", path: `${INSTANCE.path}/${id}`, query }, wait);
      // Every delete prints this line in every output format.
      if (result.ended) io.say(`Instance ${id} deleted.`);
      else io.print(result.operation, operationText(result.operation));
    }));
}
