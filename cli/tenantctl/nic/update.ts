import type { Nic, NicPatch } from "../../../src/contract/instance.ts";
import { type AnyCommand, command, each } from "../../framework.ts";
import { usageFailure } from "../../internal/failure.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { INSTANCE_FLAGS, resolveRecord } from "../record/scope.ts";
import { NIC, NIC_NAME_HELP, OF_INSTANCE_HELP } from "./nic.ts";

export function update(): AnyCommand {
  return command(
    "update",
    "Replace the further addresses or the allowed blocks of a NIC",
    "backend --instance web1 --allow-cidr 10.0.1.192/28",
  )
    .argument("<nic>", NIC_NAME_HELP)
    .option(INSTANCE_FLAGS, OF_INSTANCE_HELP)
    .option("--additional-ip <address>", "further address of the subnet; may be repeated", each)
    .option("--no-additional-ips", "remove all further addresses")
    .option("--allow-cidr <block>", "block from which the guest may also send; may be repeated", each)
    .option("--no-allowed-cidrs", "let the guest send only from its own addresses")
    .action(withIo(async (io, name, { instance, additionalIp, additionalIps, allowCidr, allowedCidrs }) => {
      const body: NicPatch = {
        additional_ips: additionalIps === false ? [] : additionalIp && [...additionalIp],
        allowed_cidrs: allowedCidrs === false ? [] : allowCidr && [...allowCidr],
      };
      if (body.additional_ips === undefined && body.allowed_cidrs === undefined) {
        throw usageFailure(
          "there is nothing to change; pass --additional-ip, --no-additional-ips, --allow-cidr or --no-allowed-cidrs",
        );
      }
      const path = `${NIC.path}/${await resolveRecord(io, NIC, { name, instance })}`;
      const nic = await io.send<Nic>({ method: "PATCH", path, body });
      io.print(nic, blockText(NIC.lines(nic)));
    }));
}
