import type { Project } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { DESCRIPTION_OPTION, NAME_OPTION, patchOf } from "../../internal/named-patch.ts";
import { findProject, IN_TENANT_OPTION, PROJECT_ARGUMENT, projectPath, projectTitle } from "./project.ts";

export function update(): AnyCommand {
  return command("update", "Change the name or description of a project", "shop --tenant web --name store")
    .argument(...PROJECT_ARGUMENT)
    .option(...IN_TENANT_OPTION)
    .option(...NAME_OPTION)
    .option(...DESCRIPTION_OPTION)
    .action(withIo(async (io, name, { tenant, ...options }) => {
      const body = patchOf(options);
      const placed = await findProject(io, name, tenant);
      const project = await io.send<Project>({ method: "PATCH", path: projectPath(placed), body });
      io.print(project, `Updated project ${projectTitle({ ...placed, project })}`);
    }));
}
