import type { FloatingIp } from "../../../src/contract/network.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../open-io.ts";
import { pathOf } from "./floating-ip.ts";

export function attach(): AnyCommand {
  return command("attach", "Bind a floating IP to a NIC; one that is bound elsewhere moves")
    .argument("<floating-ip>", "UUID, unique UUID prefix or name")
    .requiredOption("--nic <uuid>", "the NIC")
    .action(withIo(async (io, name, { nic }) => {
      const ip = await io.post<FloatingIp>(`${await pathOf(io, name)}/attach`, { nic_id: nic });
      io.print(ip, plainText(`Floating IP ${ip.id} attached to NIC ${ip.attached_to ?? nic} (address ${ip.address})`));
    }));
}
