import { type AnyCommand } from "../../framework.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP } from "../record/scope.ts";
import { projectPath } from "./project.ts";

export function remove(): AnyCommand {
  return deleteCommand("delete", "Delete an empty project", "shop")
    .argument("<project>", NAME_HELP)
    .action(withIo(async (io, name) => {
      const path = await projectPath(io, name);
      await io.send({ method: "DELETE", path });
      io.say(`Project ${path.split("/").at(-1)} deleted.`);
    }));
}
