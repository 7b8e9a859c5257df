import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { titleOf } from "../../internal/record-name.ts";
import { findImageRecord, IMAGES_PATH, RECORD_ARGUMENT } from "./record.ts";

export function remove(): AnyCommand {
  return command("delete", "Delete an unused image from the control plane", "debian-12")
    .argument(...RECORD_ARGUMENT)
    .action(withIo(async (io, name) => {
      const image = await findImageRecord(io, name);
      await io.send({ method: "DELETE", path: `${IMAGES_PATH}/${image.id}` });
      io.print(null, `Deleted image ${titleOf(image)}`);
    }));
}
