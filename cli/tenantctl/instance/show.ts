import type { Instance } from "../../../src/contract/instance.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { INSTANCE, printInstance } from "./instance.ts";

export function show(): AnyCommand {
  return command("show", "Show one instance", "web1")
    .argument("<instance>", NAME_HELP)
    .action(withIo(async (io, name) => {
      printInstance(io, await io.get<Instance>(`${INSTANCE.path}/${await resolveInstance(io, name)}`));
    }));
}
