import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP } from "../record/scope.ts";
import { PATH, resolveImage } from "./image.ts";

export function remove(): AnyCommand {
  return command("delete", "Delete an unused image of the project, tenant or silo", "web-golden")
    .argument("<image>", NAME_HELP)
    .action(withIo(async (io, name) => {
      const id = await resolveImage(io, name);
      await io.send({ method: "DELETE", path: `${PATH}/${id}` });
      io.say(`Image ${id} deleted.`);
    }));
}
