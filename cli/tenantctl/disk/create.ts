import type { Disk, DiskBody } from "../../../src/contract/instance.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { parseByteSize } from "../../internal/byte-size.ts";
import { blockText } from "../../internal/table.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "../instance/operation.ts";
import { LABEL_OPTION, parseLabels } from "../../internal/labels.ts";
import { withIo } from "../open-io.ts";
import { resolveImage } from "../image/image.ts";
import { INSTANCE_OPTION, NAME_HELP, resolveInstance, resolveRecord } from "../record/scope.ts";
import { SNAPSHOT } from "../snapshot/snapshot.ts";
import { DISK } from "./disk.ts";

export function create(): AnyCommand {
  return command(
    "create",
    "Create a data disk, empty or as a copy, and attach it to an instance",
    "--name data --instance web1 --size 100GiB",
  )
    .requiredOption("--name <name>", "1 to 63 bytes; unique among the disks of the instance")
    .requiredOption(...INSTANCE_OPTION)
    .option(
      "--size, --size-bytes <size>",
      "size: bytes, or a size such as 64GiB; required for an empty disk; a copy has the size of its source by default",
      sizeOf,
    )
    .option("--snapshot <snapshot>", "copy this snapshot of the same instance: UUID, unique UUID prefix or name")
    .option("--image <image>", `copy this image: ${NAME_HELP}`)
    .option("--description <text>", "free-form description")
    .option(...LABEL_OPTION)
    .option(...WAIT_OPTION)
    .option(...NO_WAIT_OPTION)
    .action(withIo(async (io, { name, instance, sizeBytes: size_bytes, snapshot, image, description, label, wait }) => {
      const query = { instance: await resolveInstance(io, instance) };
      const body: Omit<DiskBody, "description" | "labels"> & Partial<DiskBody> = {
        name,
        description,
        labels: label && parseLabels(label),
        size_bytes,
        snapshot_id: snapshot && await resolveRecord(io, SNAPSHOT, { name: snapshot, ...query }),
        image_id: image && await resolveImage(io, image),
      };
      const result = await operate<Disk>(io, { method: "POST", path: DISK.path, query, body }, wait);
      if (result.ended) io.print(result.answer, blockText(DISK.lines(result.answer)));
      else io.print(result.operation, operationText(result.operation));
    }));
}

function sizeOf(text: string): number {
  return parseByteSize(text, "--size");
}
