import type { FloatingIp } from "../../../src/contract/network.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { plainText } from "../../internal/plain-text.ts";
import { usageFailure } from "../../internal/failure.ts";
import { FIRST_NIC, NIC } from "../nic/nic.ts";
import { type TenantIo, withIo } from "../open-io.ts";
import { resolveRecord } from "../record/scope.ts";
import { pathOf } from "./floating-ip.ts";

export function attach(): AnyCommand {
  return command(
    "attach",
    "Attach a floating IP to a NIC, after detaching it from any other NIC",
    "web-ip --instance web1",
  )
    .argument("<floating-ip>", "UUID, unique UUID prefix or name")
    .option("--instance <instance>", "instance: UUID, unique UUID prefix or name")
    .option(
      "--nic <nic>",
      "NIC: UUID or unique UUID prefix, or with --instance its name; by default the first NIC of the instance",
    )
    .action(withIo(async (io, name, options) => {
      const nic = await resolveNic(io, options);
      const ip = await io.post<FloatingIp>(`${await pathOf(io, name)}/attach`, { nic_id: nic });
      io.print(ip, plainText(`Floating IP ${ip.id} attached to NIC ${ip.attached_to ?? nic} (address ${ip.address})`));
    }));
}

async function resolveNic(io: TenantIo, { instance, nic }: { instance?: string; nic?: string }): Promise<string> {
  if (instance === undefined && nic === undefined) throw usageFailure("pass --instance, --nic or both");
  return await resolveRecord(io, NIC, { name: nic ?? FIRST_NIC, instance });
}
