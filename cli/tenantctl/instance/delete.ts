import { type AnyCommand, command, option } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { INSTANCE } from "./instance.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "./operation.ts";

export function remove(): AnyCommand {
  return command(
    "delete",
    "Delete a stopped or failed instance with its boot disk and addresses; delete its data disks and snapshots first",
    "web1",
  )
    .argument("<instance>", NAME_HELP)
    .option("--force", "for operators: delete it in any state, without waiting for its node")
    .addOption(option("--yes", "without effect: the command does not ask").hideHelp())
    .option(...WAIT_OPTION)
    .option(...NO_WAIT_OPTION)
    .action(withIo(async (io, name, { force, wait }) => {
      const path = `${INSTANCE.path}/${await resolveInstance(io, name)}`;
      const start = { method: "DELETE", path, query: { force: String(force === true) } } as const;
      const result = await operate<null>(io, start, wait);
      // Every `delete` command prints this line in every output format.
      if (result.ended) io.say(`Instance ${path.slice(INSTANCE.path.length + 1)} deleted.`);
      else io.print(result.operation, operationText(result.operation));
    }));
}
