import type { Silo } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { DESCRIPTION_OPTION, NAME_OPTION, patchOf } from "../../internal/named-patch.ts";
import { titleOf } from "../../internal/record-name.ts";
import { resolveSilo, SILO_ARGUMENT, siloPath } from "./silo.ts";

export function update(): AnyCommand {
  return command("update", "Change the name or description of a silo", 'acme --description "customer since 2026"')
    .argument(...SILO_ARGUMENT)
    .option(...NAME_OPTION)
    .option(...DESCRIPTION_OPTION)
    .action(withIo(async (io, name, options) => {
      const body = patchOf(options);
      const silo = await io.send<Silo>({ method: "PATCH", path: siloPath(await resolveSilo(io, name)), body });
      io.print(silo, `Updated silo ${titleOf(silo)}`);
    }));
}
