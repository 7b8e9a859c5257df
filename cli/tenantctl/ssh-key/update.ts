import type { SshKey } from "../../../src/contract/ssh-key.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { lineOf } from "../record/line.ts";
import { labeledOptions, labeledPatch } from "../record/update.ts";
import { KEY_ARGUMENT, KEYS_PATH, keyText, resolveKey } from "./ssh-key.ts";

export function update(): AnyCommand {
  const made = command("update", "Change the name, description or labels of an SSH key", "laptop --name old-laptop");
  return labeledOptions(made.argument(...KEY_ARGUMENT)).action(withIo(async (io, ...given) => {
    const { argument, options } = lineOf(given);
    const body = labeledPatch(options);
    const path = `${KEYS_PATH}/${await resolveKey(io, argument)}`;
    const key = await io.send<SshKey>({ method: "PATCH", path, body });
    io.print(key, keyText(key));
  }));
}
