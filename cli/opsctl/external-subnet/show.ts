import { type AnyCommand, showCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { EXTERNAL_SUBNET_ARGUMENT, externalSubnetText, findExternalSubnet } from "./subnet.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one external subnet", "public-1")
    .argument(...EXTERNAL_SUBNET_ARGUMENT)
    .action(withIo(async (io, name) => {
      const subnet = await findExternalSubnet(io, name);
      io.print(subnet, externalSubnetText(subnet));
    }));
}
