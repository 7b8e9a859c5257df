import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { NAMED_BY, resolveInstance } from "../record/scope.ts";
import { INSTANCE } from "./instance.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "./operation.ts";

export function remove(): AnyCommand {
  return command("delete", "Delete an instance that is stopped or failed, with its disks and addresses")
    .argument("<instance>", NAMED_BY)
    .option("--force", "in any state, and without its node; for operators")
    .option(...WAIT_OPTION)
    .option(...NO_WAIT_OPTION)
    .action(withIo(async (io, name, { force, wait }) => {
      const id = await resolveInstance(io, name);
      const query = { force: String(force === true) };
      const result = await operate<null>(io, { method: "DELETE", path: `${INSTANCE.path}/${id}`, query }, wait);
      // Document 3, Tenant CLI: this line whatever --output says.
      if (result.ended) io.say(`Instance ${id} deleted.`);
      else io.print(result.operation, operationText(result.operation));
    }));
}
