import { type AnyCommand, command } from "../../../framework.ts";
import { withIo } from "../../../internal/run.ts";
import { NODE_ARGUMENT } from "../../node-name.ts";
import { changeTraits, pairOf } from "./traits.ts";

export function set(): AnyCommand {
  return command("set", "Set placement traits of a node; other traits do not change", "cn-17 gpu=true")
    .argument(...NODE_ARGUMENT)
    .argument("<trait=value...>", "for example rack=r12")
    .action(withIo(async (io, name, pairs) => {
      const given = Object.fromEntries(pairs.map(pairOf));
      await changeTraits(io, name, (traits) => ({ ...traits, ...given }));
    }));
}
