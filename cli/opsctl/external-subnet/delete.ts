import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { titleOf } from "../../internal/record-name.ts";
import { EXTERNAL_SUBNET_ARGUMENT, EXTERNAL_SUBNETS_PATH, findExternalSubnet } from "./subnet.ts";

export function remove(): AnyCommand {
  return command("delete", "Delete an unused external subnet", "public-1")
    .argument(...EXTERNAL_SUBNET_ARGUMENT)
    .action(withIo(async (io, name) => {
      const subnet = await findExternalSubnet(io, name);
      await io.send({ method: "DELETE", path: `${EXTERNAL_SUBNETS_PATH}/${subnet.id}` });
      io.print(null, `Deleted external subnet ${titleOf(subnet)}`);
    }));
}
