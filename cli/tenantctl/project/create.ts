import type { Project } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { LABEL_OPTION, parseLabels } from "../../internal/labels.ts";
import { withIo } from "../open-io.ts";
import { needTenant } from "../scope.ts";
import { projectsPath, projectText } from "./project.ts";

export function create(): AnyCommand {
  return command("create", "Create a project", "--name shop")
    .requiredOption("--name <name>", "1 to 63 bytes, without / or \\; unique in the tenant")
    .option("--description <text>", "free-form description")
    .option(...LABEL_OPTION)
    .action(withIo(async (io, { name, description, label }) => {
      const body = { name, description, labels: label && parseLabels(label) };
      const project = await io.post<Project>(projectsPath(await needTenant(io)), body);
      io.print(project, projectText(project));
    }));
}
