import type { Instance, InstancePatch } from "../../../src/contract/instance.ts";
import { type AnyCommand, command, oneOf, option } from "../../framework.ts";
import { usageFailure } from "../../internal/failure.ts";
import { LABEL_OPTION, labelsPatch, REMOVE_LABEL_OPTION } from "../../internal/labels.ts";
import { DESCRIPTION_OPTION, NAME_OPTION, namesOf } from "../../internal/named-patch.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { INSTANCE } from "./instance.ts";

export function update(): AnyCommand {
  return command(
    "update",
    "Change the name, description or labels of an instance, or its protection against deletion",
    "web1 --label env=test",
  )
    .argument("<instance>", NAME_HELP)
    .option(...NAME_OPTION)
    .option(...DESCRIPTION_OPTION)
    .option(...LABEL_OPTION)
    .option(...REMOVE_LABEL_OPTION)
    .addOption(
      oneOf("--protection <state>", "on: refuse to delete the instance; off: allow it", ["on", "off"] as const),
    )
    .addOption(
      option("--protect", "the same as --protection on; instance create has this option too").conflicts("protection"),
    )
    .action(withIo(async (io, name, { protection, protect, ...options }) => {
      const body: InstancePatch = {
        ...namesOf(options),
        labels: labelsPatch(options),
        deletion_protection: protection === undefined ? protect : protection === "on",
      };
      if (Object.values(body).every((value) => value === undefined)) {
        throw usageFailure(
          "there is nothing to change; pass --name, --description, --label, --remove-label or --protection",
        );
      }
      const path = `${INSTANCE.path}/${await resolveInstance(io, name)}`;
      const instance = await io.send<Instance>({ method: "PATCH", path, body });
      io.print(instance, blockText(INSTANCE.lines(instance)));
    }));
}
