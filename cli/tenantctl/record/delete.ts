import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import type { Kind } from "./kind.ts";
import { lineOf } from "./line.ts";
import type { Named } from "./pick.ts";
import { addNameArgument, nameExample, resolveRecord } from "./scope.ts";

export function remove<T extends Named>(kind: Kind<T>): AnyCommand {
  return addNameArgument(command("delete", `Delete a ${kind.singular}`, nameExample(kind)), kind)
    .action(withIo(async (io, ...given) => {
      const { argument, options } = lineOf(given);
      const id = await resolveRecord(io, kind, { ...options, name: argument });
      await io.send({ method: "DELETE", path: `${kind.path}/${id}` });
      // Every delete prints this line in every output format.
      io.say(`${kind.title} ${id} deleted.`);
    }));
}
