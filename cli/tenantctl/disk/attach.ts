import type { Disk } from "../../../src/contract/instance.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { blockText } from "../../internal/table.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "../instance/operation.ts";
import { withIo } from "../open-io.ts";
import { INSTANCE_FLAGS, resolveRecord } from "../record/scope.ts";
import { DISK, DISK_NAME_HELP, OF_INSTANCE_HELP } from "./disk.ts";

const VERBS = [
  { verb: "attach", summary: "Attach a data disk to its instance; a running guest gets it at once" },
  { verb: "detach", summary: "Detach a data disk from its instance; unmount it in the guest first" },
] as const;

export function attachVerbs(): AnyCommand[] {
  return VERBS.map(({ verb, summary }) =>
    (verb === "detach" ? deleteCommand : command)(verb, summary, "data --instance web1")
      .argument("<disk>", DISK_NAME_HELP)
      .option(INSTANCE_FLAGS, OF_INSTANCE_HELP)
      .option(...WAIT_OPTION)
      .option(...NO_WAIT_OPTION)
      .action(withIo(async (io, name, { instance, wait }) => {
        const path = `${DISK.path}/${await resolveRecord(io, DISK, { name, instance })}/${verb}`;
        const result = await operate<Disk>(io, { method: "POST", path }, wait);
        if (result.ended) io.print(result.answer, blockText(DISK.lines(result.answer)));
        else io.print(result.operation, operationText(result.operation));
      }))
  );
}
