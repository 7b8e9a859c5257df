import type { Instance, InstanceBody } from "../../../src/contract/instance.ts";
import { type AnyCommand, command, each, wholeNumber } from "../../framework.ts";
import { parseByteSize } from "../../internal/byte-size.ts";
import { blockText } from "../../internal/table.ts";
import { resolveImage } from "../image/image.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveRecord, VPC_FLAGS } from "../record/scope.ts";
import { PLACEMENT_GROUP } from "../placement-group/placement-group.ts";
import { needProject, projectScope } from "../scope.ts";
import { resolveKeys } from "../ssh-key/ssh-key.ts";
import { SUBNET } from "../subnet/subnet.ts";
import { extraNics, parseNicFlag } from "./extra-nic.ts";
import { withGroupHint } from "./group-hint.ts";
import { INSTANCE } from "./instance.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "./operation.ts";
import { LABEL_OPTION, parseLabels } from "../../internal/labels.ts";
import { readUserData } from "./user-data.ts";

export function create(): AnyCommand {
  return command(
    "create",
    "Create an instance and wait until it runs",
    "--name web1 --image debian-12 --subnet front --vpc web --cpu 2 --memory 4GiB",
  )
    .requiredOption("--name <name>", "1 to 63 bytes; unique in the project")
    .requiredOption("--image, --image-id <image>", `image of the boot disk: ${NAME_HELP}`)
    .requiredOption("--subnet, --primary-subnet-id <subnet>", `subnet of the first NIC: ${NAME_HELP}`)
    .requiredOption("--cpu <number>", "virtual CPUs", wholeNumber(0))
    .requiredOption(
      "--memory, --memory-bytes <size>",
      "memory: bytes, or a size such as 4GiB",
      bytesOf("--memory"),
    )
    .option("--description <text>", "free-form description")
    .option(
      "--ssh-key, --ssh-key-id <ssh-key>",
      "SSH key for access to the instance: UUID, or the name of your own key; may be repeated",
      each,
    )
    .option(
      "--disk, --disk-bytes <size>",
      "size of the boot disk, such as 64GiB; defaults to the image's size",
      bytesOf("--disk"),
    )
    .option("--nic <subnet>", "additional NIC: SUBNET or SUBNET:NAME; may be repeated", each)
    .option(VPC_FLAGS, "VPC in which subnets are looked up by name; by default the only VPC of the project")
    .option("--mac <mac>", "MAC address of the first NIC")
    .option("--user-data-file <file>", "user data for cloud-init; - for standard input")
    .option(...LABEL_OPTION)
    .option(
      "--placement-group, --placement-group-id <group>",
      `placement group that the instance joins: ${NAME_HELP}`,
    )
    .option("--protect", "refuse to delete the instance until its protection is removed")
    .option(...WAIT_OPTION)
    .option(...NO_WAIT_OPTION)
    .action(withIo(async (io, options) => {
      await needProject(io, "create an instance");
      const { name, description, cpu, memoryBytes, diskBytes, mac, vpc, wait } = options;
      const nics = (options.nic ?? []).map((text, index) => parseNicFlag(text, index + 1));
      const user_data = options.userDataFile === undefined ? null : await readUserData(io, options.userDataFile);
      // Fields that are undefined are not sent, and the server uses its defaults for them.
      const body:
        & Omit<InstanceBody, "description" | "disk_bytes" | "labels" | "deletion_protection">
        & Partial<InstanceBody> = {
          name,
          description,
          image_id: await resolveImage(io, options.imageId),
          primary_subnet_id: await resolveRecord(io, SUBNET, { name: options.primarySubnetId, vpc }),
          cpu,
          memory_bytes: memoryBytes,
          ssh_key_ids: await resolveKeys(io, options.sshKeyId ?? []),
          disk_bytes: diskBytes,
          mac: mac ?? null,
          extra_nics: await extraNics(io, nics, vpc),
          user_data,
          labels: options.label && parseLabels(options.label),
          deletion_protection: options.protect,
          placement_group_id: options.placementGroupId === undefined
            ? undefined
            : await resolveRecord(io, PLACEMENT_GROUP, { name: options.placementGroupId }),
        };
      const query = await projectScope(io);
      const start = { method: "POST", path: INSTANCE.path, query, body } as const;
      const result = await operate<Instance>(io, start, wait).catch(async (error) => {
        throw await withGroupHint(io, body.placement_group_id ?? undefined, error);
      });
      if (result.ended) io.print(result.answer, blockText(INSTANCE.lines(result.answer)));
      else io.print(result.operation, operationText(result.operation));
    }));
}

function bytesOf(flag: string): (text: string) => number {
  return (text) => parseByteSize(text, flag);
}
