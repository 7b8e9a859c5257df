import { type AnyCommand, showCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { findProject, IN_TENANT_OPTION, PROJECT_ARGUMENT, projectText } from "./project.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one project", "shop --tenant web")
    .argument(...PROJECT_ARGUMENT)
    .option(...IN_TENANT_OPTION)
    .action(withIo(async (io, name, { tenant }) => {
      const placed = await findProject(io, name, tenant);
      io.print(placed.project, projectText(placed));
    }));
}
