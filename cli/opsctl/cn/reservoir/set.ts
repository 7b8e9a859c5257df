import { type AnyCommand, command, oneOf } from "../../../framework.ts";
import { withIo } from "../../../internal/run.ts";
import { fractionOf } from "../../fraction.ts";
import { sendOverride } from "./override.ts";

export function set(): AnyCommand {
  return command(
    "set",
    "Replace the memory reservoir override of a node; the cluster default applies to an omitted value",
    "cn-17 --enabled true --percent 10%",
  )
    .argument("<node>", "UUID, unique UUID prefix or hostname")
    .addOption(oneOf("--enabled <boolean>", "whether the node keeps a reservoir", ["true", "false"]))
    .option("--percent <share>", "share of physical memory, such as 50% or 0.5", fractionOf)
    .action(withIo(async (io, name, { enabled, percent }) => {
      await sendOverride(io, name, {
        reservoir_enabled: enabled === undefined ? null : enabled === "true",
        reservoir_percent: percent ?? null,
      });
    }));
}
