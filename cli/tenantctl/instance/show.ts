import type { Instance } from "../../../src/contract/instance.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { NAMED_BY, resolveInstance } from "../record/scope.ts";
import { INSTANCE, printInstance } from "./instance.ts";

export function show(): AnyCommand {
  return command("show", "Show one instance")
    .argument("<instance>", NAMED_BY)
    .action(withIo(async (io, name) => {
      printInstance(io, await io.get<Instance>(`${INSTANCE.path}/${await resolveInstance(io, name)}`));
    }));
}
