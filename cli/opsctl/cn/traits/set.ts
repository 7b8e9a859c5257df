import { type AnyCommand, command } from "../../../framework.ts";
import { usageFailure } from "../../../kit/failure.ts";
import { withIo } from "../../../kit/run.ts";
import { NODE_ARGUMENT } from "../../node-name.ts";
import { changeTraits } from "./traits.ts";

export function set(): AnyCommand {
  return command("set", "Set placement traits of a node; those not named stay")
    .argument(...NODE_ARGUMENT)
    .argument("<trait=value...>", "for example rack=r12")
    .action(withIo(async (io, name, words) => {
      const given = Object.fromEntries(words.map(pairOf));
      await changeTraits(io, name, (held) => ({ ...held, ...given }));
    }));
}

function pairOf(word: string): [key: string, value: string] {
  const at = word.indexOf("=");
  if (at < 1 || at === word.length - 1) throw usageFailure(`${word} is not of the form trait=value`);
  return [word.slice(0, at), word.slice(at + 1)];
}
