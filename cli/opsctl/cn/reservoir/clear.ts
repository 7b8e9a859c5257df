import { type AnyCommand } from "../../../framework.ts";
import { deleteCommand } from "../../../internal/delete-command.ts";
import { withIo } from "../../../internal/run.ts";
import { sendOverride } from "./override.ts";

export function clear(): AnyCommand {
  return deleteCommand("clear", "Clear the memory reservoir override of a node; the cluster default applies", "cn-17")
    .argument("<node>", "UUID, unique UUID prefix or hostname")
    .action(withIo(async (io, name) => {
      await sendOverride(io, name, { reservoir_enabled: null, reservoir_percent: null });
    }));
}
