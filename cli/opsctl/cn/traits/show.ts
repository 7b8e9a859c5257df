import type { Traits } from "../../../../src/contract/setup.ts";
import { type AnyCommand, showCommand } from "../../../framework.ts";
import { withIo } from "../../../internal/run.ts";
import { NODE_ARGUMENT } from "../../node-name.ts";
import { printTraits, traitsPath } from "./traits.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show the placement traits of a node", "cn-17")
    .argument(...NODE_ARGUMENT)
    .action(withIo(async (io, name) => printTraits(io, await io.get<Traits>(await traitsPath(io, name)))));
}
