import type { CnPlacement, CnPlacementPatch } from "../../../src/contract/cn-placement.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { eachNamed } from "../../internal/each-named.ts";
import type { Io } from "../../internal/io.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { NODES_ARGUMENT } from "../node-name.ts";
import { placementPath } from "./placement/placement.ts";

export function cordon(): AnyCommand {
  return command(
    "cordon",
    "Place no new instances on nodes until they are uncordoned",
    'cn-17 cn-18 --reason "new disks"',
  )
    .argument(...NODES_ARGUMENT)
    .option("--reason <text>", 'reason for other operators; use "drain" if the node is being emptied')
    .action(withIo(async (io, names, { reason }) => {
      await eachNamed(names, async (name) => {
        const placement = await patch(io, name, { cordoned: true, cordoned_reason: reason });
        io.print(placement, `Cordoned ${plainText(name)}; its instances continue to run`);
      });
    }));
}

export function uncordon(): AnyCommand {
  return command("uncordon", "Let new instances be placed on cordoned nodes again", "cn-17 cn-18")
    .argument(...NODES_ARGUMENT)
    .action(withIo(async (io, names) => {
      await eachNamed(names, async (name) => {
        const placement = await patch(io, name, { cordoned: false });
        io.print(placement, `Uncordoned ${plainText(name)}`);
      });
    }));
}

async function patch(io: Io, name: string, body: CnPlacementPatch): Promise<CnPlacement> {
  return await io.send<CnPlacement>({ method: "PATCH", path: await placementPath(io, name), body });
}
