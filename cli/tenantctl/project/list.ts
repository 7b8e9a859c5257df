import type { Project } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import { LABEL_FILTER_OPTION, labelFilter } from "../../internal/labels.ts";
import { AGE_COLUMN, type Column, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { needTenant, projectsOf } from "../scope.ts";

const COLUMNS: readonly Column<Project>[] = [
  ["NAME", (project) => project.name],
  ["ID", (project) => project.id, ID_COLUMN],
  ["AGE", (project) => project.created_at, AGE_COLUMN],
  ["DESCRIPTION", (project) => project.description],
  ["CREATED_AT", (project) => project.created_at, WIDE_COLUMN],
];

export function list(): AnyCommand {
  return listCommand("list", "List the projects of the tenant")
    .option(...LABEL_FILTER_OPTION)
    .action(withIo(async (io, { label }) => {
      const projects = await projectsOf(io, await needTenant(io), labelFilter(label));
      io.table(projects, projects, COLUMNS, "(no projects)");
    }));
}
