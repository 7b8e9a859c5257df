import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { KEY_ARGUMENT, KEYS_PATH, resolveKey } from "./ssh-key.ts";

export function remove(): AnyCommand {
  return command("delete", "Delete an SSH key; instances that have it keep it")
    .argument(...KEY_ARGUMENT)
    .action(withIo(async (io, name) => {
      const id = await resolveKey(io, name);
      await io.send({ method: "DELETE", path: `${KEYS_PATH}/${id}` });
      // Document 3, Tenant CLI: every delete prints its one line, whatever --output says.
      io.say(`SSH key ${id} deleted.`);
    }));
}
