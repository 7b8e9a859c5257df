import type { Snapshot, SnapshotBody } from "../../../src/contract/snapshot.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { DISK, DISK_NAME_HELP, OF_INSTANCE_HELP } from "../disk/disk.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "../instance/operation.ts";
import { LABEL_OPTION, parseLabels } from "../../internal/labels.ts";
import { withIo } from "../open-io.ts";
import { INSTANCE_FLAGS, resolveRecord } from "../record/scope.ts";
import { SNAPSHOT } from "./snapshot.ts";

export function create(): AnyCommand {
  return command("create", "Copy a disk as it is now; its guest keeps running", "data --instance web1 --name monday")
    .argument("<disk>", DISK_NAME_HELP)
    .requiredOption("--name <name>", "1 to 63 bytes; unique among the disks and snapshots of the instance")
    .option(INSTANCE_FLAGS, OF_INSTANCE_HELP)
    .option("--description <text>", "free-form description")
    .option(...LABEL_OPTION)
    .option(...WAIT_OPTION)
    .option(...NO_WAIT_OPTION)
    .action(withIo(async (io, disk_name, { name, instance, description, label, wait }) => {
      const query = { disk: await resolveRecord(io, DISK, { name: disk_name, instance }) };
      const body: Partial<SnapshotBody> = { name, description, labels: label && parseLabels(label) };
      const result = await operate<Snapshot>(io, { method: "POST", path: SNAPSHOT.path, query, body }, wait);
      if (result.ended) io.print(result.answer, blockText(SNAPSHOT.lines(result.answer)));
      else io.print(result.operation, operationText(result.operation));
    }));
}
