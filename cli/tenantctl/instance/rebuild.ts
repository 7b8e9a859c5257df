import type { Instance, RebuildBody } from "../../../src/contract/instance.ts";
import { type AnyCommand } from "../../framework.ts";
import { confirm } from "../../internal/confirmation.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../open-io.ts";
import { resolveImage } from "../image/image.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { INSTANCE, printInstance } from "./instance.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "./operation.ts";

export function rebuild(): AnyCommand {
  return deleteCommand("rebuild", "Replace the boot disk of an instance with a new one from an image", "web1 --yes", {
    asks: true,
  })
    .argument("<instance>", NAME_HELP)
    .option("--image <image>", `build the disk from this image (${NAME_HELP}); default: the image of the instance`)
    .option(...WAIT_OPTION)
    .option(...NO_WAIT_OPTION)
    .action(withIo(async (io, name, { image, yes, wait }) => {
      const at = `${INSTANCE.path}/${await resolveInstance(io, name)}`;
      const image_id = image === undefined ? undefined : await resolveImage(io, image);
      await confirm(io, yes === true, async () => {
        const { name } = await io.get<Instance>(at);
        const warning = plainText(`The data on the boot disk of ${name} is lost. Its data disks and addresses stay.`);
        return { warning, names: [name] };
      });
      const body: RebuildBody = image_id === undefined ? {} : { image_id };
      const result = await operate<Instance>(io, { method: "POST", path: `${at}/rebuild`, body }, wait);
      if (result.ended) printInstance(io, result.answer);
      else io.print(result.operation, operationText(result.operation));
    }));
}
