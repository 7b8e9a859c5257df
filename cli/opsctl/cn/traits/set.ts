import { type AnyCommand, command } from "../../../framework.ts";
import { withIo } from "../../../internal/run.ts";
import { NODE_ARGUMENT } from "../../node-name.ts";
import { changeTraits, pairOf } from "./traits.ts";

export function set(): AnyCommand {
  return command("set", "Set placement traits of a node; those not named stay")
    .argument(...NODE_ARGUMENT)
    .argument("<trait=value...>", "for example rack=r12")
    .action(withIo(async (io, name, argv) => {
      const given = Object.fromEntries(argv.map(pairOf));
      await changeTraits(io, name, (held) => ({ ...held, ...given }));
    }));
}
