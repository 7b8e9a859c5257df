import type { Project } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, showCommand } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP } from "../record/scope.ts";
import { projectPath, projectText } from "./project.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one project", "shop")
    .argument("<project>", NAME_HELP)
    .action(withIo(async (io, name) => {
      const project = await io.get<Project>(await projectPath(io, name));
      io.print(project, projectText(project));
    }));
}
