import type { Nic, NicPatch } from "../../../src/contract/instance.ts";
import { type AnyCommand, command, each } from "../../framework.ts";
import { usageFailure } from "../../internal/failure.ts";
import { LABEL_OPTION, labelsPatch, REMOVE_LABEL_OPTION } from "../../internal/labels.ts";
import { NAME_OPTION } from "../../internal/named-patch.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { linesOf } from "../record/kind.ts";
import { INSTANCE_FLAGS, resolveRecord } from "../record/scope.ts";
import { NIC, NIC_NAME_HELP, OF_INSTANCE_HELP } from "./nic.ts";

export function update(): AnyCommand {
  return command(
    "update",
    "Change a NIC; a new list of addresses or blocks replaces the whole old list",
    "backend --instance web1 --allow-cidr 10.0.1.192/28",
  )
    .argument("<nic>", NIC_NAME_HELP)
    .option(INSTANCE_FLAGS, OF_INSTANCE_HELP)
    .option(...NAME_OPTION)
    .option(...LABEL_OPTION)
    .option(...REMOVE_LABEL_OPTION)
    .option("--additional-ip <address>", "further address of the subnet; may be repeated", each)
    .option("--no-additional-ips", "remove all further addresses")
    .option("--allow-cidr <block>", "block from which the guest may also send; may be repeated", each)
    .option("--no-allowed-cidrs", "let the guest send only from its own addresses")
    .action(
      withIo(async (io, nic_name, { instance, additionalIp, additionalIps, allowCidr, allowedCidrs, ...options }) => {
        const body: NicPatch = {
          name: options.name,
          labels: labelsPatch(options),
          additional_ips: additionalIps === false ? [] : additionalIp && [...additionalIp],
          allowed_cidrs: allowedCidrs === false ? [] : allowCidr && [...allowCidr],
        };
        if (Object.values(body).every((value) => value === undefined)) {
          throw usageFailure("there is nothing to change; pass at least one option");
        }
        const path = `${NIC.path}/${await resolveRecord(io, NIC, { name: nic_name, instance })}`;
        const nic = await io.send<Nic>({ method: "PATCH", path, body });
        io.print(nic, blockText(linesOf(NIC, nic)));
      }),
    );
}
