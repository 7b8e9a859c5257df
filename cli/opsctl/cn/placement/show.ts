import type { CnPlacement } from "../../../../src/contract/cn-placement.ts";
import { type AnyCommand, showCommand } from "../../../framework.ts";
import { withIo } from "../../../internal/run.ts";
import { NODE_ARGUMENT } from "../../node-name.ts";
import { placementPath, printPlacement } from "./placement.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show the placement settings of a node", "cn-17")
    .argument(...NODE_ARGUMENT)
    .action(withIo(async (io, name) => printPlacement(io, await io.get<CnPlacement>(await placementPath(io, name)))));
}
