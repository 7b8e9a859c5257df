import type { Disk, DiskBody } from "../../../src/contract/instance.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { parseByteSize } from "../../internal/byte-size.ts";
import { blockText } from "../../internal/table.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "../instance/operation.ts";
import { withIo } from "../open-io.ts";
import { INSTANCE_OPTION, resolveInstance } from "../record/scope.ts";
import { DISK } from "./disk.ts";

export function create(): AnyCommand {
  return command(
    "create",
    "Create an empty data disk and attach it to an instance",
    "--name data --instance web1 --size 100GiB",
  )
    .requiredOption("--name <name>", "1 to 63 bytes; unique among the disks of the instance")
    .requiredOption(...INSTANCE_OPTION)
    .requiredOption("--size, --size-bytes <size>", "size: bytes, or a size such as 64GiB", sizeOf)
    .option("--description <text>", "free-form description")
    .option(...WAIT_OPTION)
    .option(...NO_WAIT_OPTION)
    .action(withIo(async (io, { name, instance, sizeBytes: size_bytes, description, wait }) => {
      const query = { instance: await resolveInstance(io, instance) };
      const body: Omit<DiskBody, "description"> & Partial<DiskBody> = { name, description, size_bytes };
      const result = await operate<Disk>(io, { method: "POST", path: DISK.path, query, body }, wait);
      if (result.ended) io.print(result.answer, blockText(DISK.lines(result.answer)));
      else io.print(result.operation, operationText(result.operation));
    }));
}

function sizeOf(text: string): number {
  return parseByteSize(text, "--size-bytes");
}
