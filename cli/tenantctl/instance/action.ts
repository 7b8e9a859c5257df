import type { Instance } from "../../../src/contract/instance.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { INSTANCE, printInstance } from "./instance.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "./operation.ts";

type Action = { readonly verb: string; readonly summary: string; readonly path: string };

/** Verbs that change the state of an instance. */
const ACTIONS: readonly Action[] = [
  { verb: "start", summary: "Start a stopped instance", path: "start" },
  { verb: "stop", summary: "Stop a running instance", path: "stop" },
  { verb: "reboot", summary: "Restart a running instance", path: "restart" },
  {
    verb: "reset",
    summary: "Press the reset button of a running instance; data that its guest has not saved is lost",
    path: "reset",
  },
  { verb: "retry", summary: "Start a failed instance again", path: "retry" },
];

export function actions(): AnyCommand[] {
  return ACTIONS.map(({ verb, summary, path }) =>
    command(verb, summary, "web1")
      .argument("<instance>", NAME_HELP)
      .option(...WAIT_OPTION)
      .option(...NO_WAIT_OPTION)
      .action(withIo(async (io, name, { wait }) => {
        const at = `${INSTANCE.path}/${await resolveInstance(io, name)}/${path}`;
        const result = await operate<Instance>(io, { method: "POST", path: at }, wait);
        if (result.ended) printInstance(io, result.answer);
        else io.print(result.operation, operationText(result.operation));
      }))
  );
}
