import type { Instance } from "../../../src/contract/instance.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { begin, settle } from "./action.ts";
import { INSTANCE_ARGUMENT, instancePath } from "./instance.ts";

export function reset(): AnyCommand {
  return command(
    "reset",
    "Press the reset button of a running instance; data that its guest has not saved is lost",
    "web1",
  )
    .argument(...INSTANCE_ARGUMENT)
    .action(withIo(async (io, name) => {
      const path = await instancePath(io, name);
      const started = await begin(io, { method: "POST", path: `${path}/reset` });
      if (started !== null) await settle(io, started);
      const instance = await io.get<Instance>(path);
      io.print(instance, plainText(`Instance ${instance.name} was reset.`));
    }));
}
