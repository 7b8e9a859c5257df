import { type AnyCommand, command } from "../../framework.ts";
import { titleOf } from "../../internal/record-name.ts";
import { withIo } from "../../internal/run.ts";
import { findSilo, SILO_ARGUMENT, siloPath } from "./silo.ts";

export function remove(): AnyCommand {
  return command("delete", 'Delete a silo that holds nothing, with its tenant "default"', "acme")
    .argument(...SILO_ARGUMENT)
    .action(withIo(async (io, name) => {
      const silo = await findSilo(io, name);
      await io.send({ method: "DELETE", path: siloPath(silo.id) });
      io.print(null, `Deleted silo ${titleOf(silo)}`);
    }));
}
