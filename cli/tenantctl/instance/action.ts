import type { Instance } from "../../../src/contract/instance.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { NAMED_BY, resolveInstance } from "../record/scope.ts";
import { INSTANCE, printInstance } from "./instance.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "./operation.ts";

type Act = { readonly verb: string; readonly summary: string; readonly path: string };

/** Verbs that take an instance from one state to another. */
const ACTS: readonly Act[] = [
  { verb: "start", summary: "Start an instance that is stopped", path: "start" },
  { verb: "stop", summary: "Stop an instance that is running", path: "stop" },
  { verb: "reboot", summary: "Restart an instance that is running", path: "restart" },
  { verb: "retry", summary: "Start an instance that has failed", path: "retry" },
];

export function acts(): AnyCommand[] {
  return ACTS.map(({ verb, summary, path }) =>
    command(verb, summary)
      .argument("<instance>", NAMED_BY)
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
