import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { findProject, IN_TENANT_OPTION, PROJECT_ARGUMENT, projectPath, projectTitle } from "./project.ts";

export function remove(): AnyCommand {
  return command("delete", "Delete an empty project", "shop --tenant web")
    .argument(...PROJECT_ARGUMENT)
    .option(...IN_TENANT_OPTION)
    .action(withIo(async (io, name, { tenant }) => {
      const found = await findProject(io, name, tenant);
      await io.send({ method: "DELETE", path: projectPath(found) });
      io.print(null, `Deleted project ${projectTitle(found)}`);
    }));
}
