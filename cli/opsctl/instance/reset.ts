import type { Instance } from "../../../src/contract/instance.ts";
import { INSTANCE_CREATE_WAIT_S, OPERATION_GRACE_MS } from "../../../src/contract/limits.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { INSTANCE_ARGUMENT, instancePath } from "./instance.ts";

/** Time limit of the request: the server's own limit, and time for the answer to arrive. */
const LIMIT_MS = INSTANCE_CREATE_WAIT_S * 1_000 + OPERATION_GRACE_MS + 20_000;

export function reset(): AnyCommand {
  return command(
    "reset",
    "Press the reset button of a running instance; what its guest has not saved is lost",
    "web1",
  )
    .argument(...INSTANCE_ARGUMENT)
    .action(withIo(async (io, name) => {
      const path = `${await instancePath(io, name)}/reset`;
      const instance = await io.send<Instance>({ method: "POST", path, limit_ms: LIMIT_MS });
      io.print(instance, plainText(`Instance ${instance.name} was reset.`));
    }));
}
