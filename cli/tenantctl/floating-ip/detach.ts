import type { FloatingIp } from "../../../src/contract/network.ts";
import { type AnyCommand } from "../../framework.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../open-io.ts";
import { pathOf } from "./floating-ip.ts";

export function detach(): AnyCommand {
  return deleteCommand("detach", "Detach a floating IP from its NIC", "web-ip")
    .argument("<floating-ip>", "UUID, unique UUID prefix or name")
    .action(withIo(async (io, name) => {
      const ip = await io.post<FloatingIp>(`${await pathOf(io, name)}/detach`);
      io.print(ip, plainText(`Floating IP ${ip.id} detached (address ${ip.address})`));
    }));
}
