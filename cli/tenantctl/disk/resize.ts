import type { DiskResized } from "../../../src/contract/instance.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { parseByteSize } from "../../internal/byte-size.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../open-io.ts";
import { INSTANCE_FLAGS, resolveRecord } from "../record/scope.ts";
import { DISK, DISK_NAME_HELP, OF_INSTANCE_HELP } from "./disk.ts";

export function resize(): AnyCommand {
  return command("resize", "Enlarge a disk", "root --instance web1 --size 40GiB")
    .argument("<disk>", DISK_NAME_HELP)
    .option(INSTANCE_FLAGS, OF_INSTANCE_HELP)
    .requiredOption("--size, --size-bytes <size>", "new size: bytes, or a size such as 64GiB", sizeOf)
    .action(withIo(async (io, name, { instance, sizeBytes: size_bytes }) => {
      const path = `${DISK.path}/${await resolveRecord(io, DISK, { name, instance })}/resize`;
      const disk = await io.post<DiskResized>(path, { size_bytes });
      const when = disk.reboot_required
        ? "Reboot required: the running instance sees the new size after a reboot."
        : "The larger disk is available on the next start.";
      io.print(disk, plainText(`Disk ${disk.id} resized to ${disk.size_bytes} bytes.`) + `\n${when}`);
    }));
}

function sizeOf(text: string): number {
  return parseByteSize(text, "--size");
}
