import { type AnyCommand } from "../../framework.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { withIo } from "../open-io.ts";
import type { Kind } from "./kind.ts";
import { lineOf } from "./line.ts";
import type { Named } from "./pick.ts";
import { addNameArgument, nameExample, resolveRecord } from "./scope.ts";
import { change, WAIT_OPTION } from "./wait.ts";

export function remove<T extends Named>(kind: Kind<T>): AnyCommand {
  const made = addNameArgument(deleteCommand("delete", `Delete a ${kind.singular}`, nameExample(kind)), kind);
  return (kind.waits === true ? made.option(...WAIT_OPTION) : made)
    .action(withIo(async (io, ...given) => {
      const { argument, options } = lineOf(given);
      const id = await resolveRecord(io, kind, { ...options, name: argument });
      const print = () => io.say(`${kind.title} ${id} deleted.`);
      await change(io, { method: "DELETE", path: `${kind.path}/${id}` }, { wait: options.wait, print });
    }));
}
