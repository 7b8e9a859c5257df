import type { SshKey } from "../../../src/contract/ssh-key.ts";
import { type AnyCommand, showCommand } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { KEY_ARGUMENT, KEYS_PATH, keyText, resolveKey } from "./ssh-key.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one SSH key", "laptop")
    .argument(...KEY_ARGUMENT)
    .action(withIo(async (io, name) => {
      const key = await io.get<SshKey>(`${KEYS_PATH}/${await resolveKey(io, name)}`);
      io.print(key, keyText(key));
    }));
}
