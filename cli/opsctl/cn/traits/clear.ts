import { type AnyCommand } from "../../../framework.ts";
import { deleteCommand } from "../../../internal/delete-command.ts";
import { withIo } from "../../../internal/run.ts";
import { NODE_ARGUMENT } from "../../node-name.ts";
import { changeTraits } from "./traits.ts";

export function clear(): AnyCommand {
  return deleteCommand("clear", "Clear placement traits of a node", "cn-17 gpu")
    .argument(...NODE_ARGUMENT)
    .argument("[trait...]", "names of traits; by default all")
    .action(withIo(async (io, name, names) => {
      const kept = ([key]: [string, string]) => names.length > 0 && !names.includes(key);
      await changeTraits(io, name, (traits) => Object.fromEntries(Object.entries(traits).filter(kept)));
    }));
}
