import { type AnyCommand, showCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { findInstance, INSTANCE_ARGUMENT, instanceText } from "./instance.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one instance of any tenant", "web1")
    .argument(...INSTANCE_ARGUMENT)
    .action(withIo(async (io, name) => {
      const instance = await findInstance(io, name);
      io.print(instance, instanceText(instance));
    }));
}
