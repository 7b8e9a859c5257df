import type { Image } from "../../../src/contract/image.ts";
import type { SnapshotImageBody } from "../../../src/contract/image-upload.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { LABEL_OPTION, parseLabels } from "../../internal/labels.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "../instance/operation.ts";
import { withIo } from "../open-io.ts";
import { INSTANCE_FLAGS, resolveRecord } from "../record/scope.ts";
import { OF_INSTANCE_HELP, SNAPSHOT, SNAPSHOT_NAME_HELP } from "../snapshot/snapshot.ts";
import { imageText } from "./image.ts";

export function create(): AnyCommand {
  return command(
    "create",
    "Create an image from a snapshot, for the instances of the same project",
    "web-golden --snapshot monday --instance web1",
  )
    .argument("<name>", "name of the image")
    .requiredOption("--snapshot <snapshot>", SNAPSHOT_NAME_HELP)
    .option(INSTANCE_FLAGS, OF_INSTANCE_HELP)
    .option("--os <os>", "operating system; by default as in the instance's image")
    .option("--image-version <version>", "version of the operating system; by default as in the instance's image")
    .option("--description <text>", "description of the image")
    .option(...LABEL_OPTION)
    .option(...WAIT_OPTION)
    .option(...NO_WAIT_OPTION)
    .action(withIo(async (io, name, { snapshot, instance, os, imageVersion, description, label, wait }) => {
      const id = await resolveRecord(io, SNAPSHOT, { name: snapshot, instance });
      const labels = label && parseLabels(label);
      const body: SnapshotImageBody = { name, os, version: imageVersion, description, labels };
      const result = await operate<Image>(io, { method: "POST", path: `${SNAPSHOT.path}/${id}/image`, body }, wait);
      if (result.ended) io.print(result.answer, imageText(result.answer));
      else io.print(result.operation, operationText(result.operation));
    }));
}
