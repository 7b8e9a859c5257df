import type { Instance } from "../../../src/contract/instance.ts";
import { type AnyCommand } from "../../framework.ts";
import { confirmOnTerminal } from "../../internal/confirmation.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { INSTANCE } from "./instance.ts";
import { protectedFailure } from "../../internal/protection.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "./operation.ts";

export function remove(): AnyCommand {
  return deleteCommand(
    "delete",
    "Delete a stopped or failed instance with its boot disk and addresses; delete its data disks and snapshots first",
    "web1",
    { asks: true },
  )
    .argument("<instance>", NAME_HELP)
    .option("--force", "for operators: delete the instance in any state, without waiting for its node")
    .option(...WAIT_OPTION)
    .option(...NO_WAIT_OPTION)
    .action(withIo(async (io, name, { force, wait, yes }) => {
      const id = await resolveInstance(io, name);
      const path = `${INSTANCE.path}/${id}`;
      await confirmOnTerminal(io, yes === true, async () => {
        const { name, deletion_protection } = await io.get<Instance>(path);
        if (deletion_protection) throw protectedFailure(name);
        const warning = plainText(`Instance ${name} is deleted with the data on its boot disk and with its addresses.`);
        return { warning, names: [name, id] };
      });
      const start = { method: "DELETE", path, query: { force: String(force === true) } } as const;
      const result = await operate<null>(io, start, wait);
      if (result.ended) io.say(`Instance ${id} deleted.`);
      else io.print(result.operation, operationText(result.operation));
    }));
}
