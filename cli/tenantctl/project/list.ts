import type { Project } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, command } from "../../framework.ts";
import type { Column } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { needTenant, projectsOf } from "../scope.ts";

const COLUMNS: readonly Column<Project>[] = [
  ["ID", (project) => project.id],
  ["NAME", (project) => project.name],
  ["DESCRIPTION", (project) => project.description],
];

export function list(): AnyCommand {
  return command("list", "List the projects of the tenant")
    .action(withIo(async (io) => {
      const projects = await projectsOf(io, await needTenant(io));
      io.table(projects, projects, COLUMNS, "(no projects)");
    }));
}
