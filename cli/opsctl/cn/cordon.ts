import type { CnPlacement, CnPlacementPatch } from "../../../src/contract/cn-placement.ts";
import { type AnyCommand, command } from "../../framework.ts";
import type { Io } from "../../internal/io.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { NODE_ARGUMENT } from "../node-name.ts";
import { placementPath } from "./placement/placement.ts";

export function cordon(): AnyCommand {
  return command("cordon", "Place no new instances on a node until it is uncordoned", 'cn-17 --reason "new disks"')
    .argument(...NODE_ARGUMENT)
    .option("--reason <text>", 'reason for other operators; use "drain" if the node is being emptied')
    .action(withIo(async (io, name, { reason }) => {
      const placement = await patch(io, name, { cordoned: true, cordoned_reason: reason });
      io.print(placement, `Cordoned CN ${plainText(name)}; its instances continue to run`);
    }));
}

export function uncordon(): AnyCommand {
  return command("uncordon", "Let new instances be placed on a cordoned node again", "cn-17")
    .argument(...NODE_ARGUMENT)
    .action(withIo(async (io, name) => {
      const placement = await patch(io, name, { cordoned: false });
      io.print(placement, `Uncordoned CN ${plainText(name)}`);
    }));
}

async function patch(io: Io, name: string, body: CnPlacementPatch): Promise<CnPlacement> {
  return await io.send<CnPlacement>({ method: "PATCH", path: await placementPath(io, name), body });
}
