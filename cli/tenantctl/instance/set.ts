import type { Instance, InstancePatch } from "../../../src/contract/instance.ts";
import { type AnyCommand, command, each, oneOf } from "../../framework.ts";
import { usageFailure } from "../../internal/failure.ts";
import { blockText } from "../../internal/table.ts";
import { LABEL_OPTION, parseLabels } from "../../internal/labels.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { INSTANCE } from "./instance.ts";

export function set(): AnyCommand {
  return command("set", "Change the labels of an instance, or its protection against deletion", "web1 --label env=test")
    .argument("<instance>", NAME_HELP)
    .option(...LABEL_OPTION)
    .option("--remove-label <key>", "label to remove; may be repeated", each)
    .addOption(
      oneOf("--protection <state>", "on: refuse to delete the instance; off: allow it", ["on", "off"] as const),
    )
    .action(withIo(async (io, name, { label, removeLabel, protection }) => {
      if (label === undefined && removeLabel === undefined && protection === undefined) {
        throw usageFailure("there is nothing to change; pass --label, --remove-label or --protection");
      }
      const removed = Object.fromEntries((removeLabel ?? []).map((key) => [key, null]));
      const body: InstancePatch = {
        labels: { ...removed, ...parseLabels(label ?? []) },
        deletion_protection: protection === undefined ? undefined : protection === "on",
      };
      const path = `${INSTANCE.path}/${await resolveInstance(io, name)}`;
      const instance = await io.send<Instance>({ method: "PATCH", path, body });
      io.print(instance, blockText(INSTANCE.lines(instance)));
    }));
}
