import type { FloatingIp } from "../../../src/contract/network.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../open-io.ts";
import { pathOf } from "./floating-ip.ts";

export function attach(): AnyCommand {
  return command(
    "attach",
    "Attach a floating IP to a NIC; detaches it from another NIC first",
    "web-ip --nic 0191b0a2-7c1e-7d2f-9a3b-5c6d7e8f9012",
  )
    .argument("<floating-ip>", "UUID, unique UUID prefix or name")
    .requiredOption("--nic <uuid>", "UUID of the NIC (tenantctl nic list)")
    .action(withIo(async (io, name, { nic }) => {
      const ip = await io.post<FloatingIp>(`${await pathOf(io, name)}/attach`, { nic_id: nic });
      io.print(ip, plainText(`Floating IP ${ip.id} attached to NIC ${ip.attached_to ?? nic} (address ${ip.address})`));
    }));
}
