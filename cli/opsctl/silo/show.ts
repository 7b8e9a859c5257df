import { type AnyCommand, showCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { findSilo, SILO_ARGUMENT, siloText } from "./silo.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one silo", "acme")
    .argument(...SILO_ARGUMENT)
    .action(withIo(async (io, name) => {
      const silo = await findSilo(io, name);
      io.print(silo, siloText(silo));
    }));
}
