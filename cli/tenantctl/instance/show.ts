import type { InstanceShown } from "../../../src/contract/instance.ts";
import { type AnyCommand, showCommand } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { INSTANCE, printInstance } from "./instance.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one instance", "web1")
    .argument("<instance>", NAME_HELP)
    .action(withIo(async (io, name) => {
      printInstance(io, await io.get<InstanceShown>(`${INSTANCE.path}/${await resolveInstance(io, name)}`));
    }));
}
