import { type AnyCommand } from "../../framework.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { withIo } from "../open-io.ts";
import { KEY_ARGUMENT, KEYS_PATH, resolveKey } from "./ssh-key.ts";

export function remove(): AnyCommand {
  return deleteCommand("delete", "Delete an SSH key; existing instances keep it", "laptop")
    .argument(...KEY_ARGUMENT)
    .action(withIo(async (io, name) => {
      const id = await resolveKey(io, name);
      await io.send({ method: "DELETE", path: `${KEYS_PATH}/${id}` });
      io.say(`SSH key ${id} deleted.`);
    }));
}
