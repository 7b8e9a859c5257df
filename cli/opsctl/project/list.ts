import { type AnyCommand, listCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { AGE_COLUMN, type Column, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { listProjects, type ProjectInTenant } from "./project.ts";

const COLUMNS: readonly Column<ProjectInTenant>[] = [
  ["NAME", ({ project }) => project.name],
  ["TENANT", ({ tenant }) => tenant.name],
  ["ID", ({ project }) => project.id, ID_COLUMN],
  ["AGE", ({ project }) => project.created_at, AGE_COLUMN],
  ["CREATED_AT", ({ project }) => project.created_at, WIDE_COLUMN],
  ["DESCRIPTION", ({ project }) => project.description],
];

export function list(): AnyCommand {
  return listCommand("list", "List projects", "--tenant web")
    .option("--tenant <tenant>", "only projects of this tenant: name, SILO/NAME or UUID")
    .action(withIo(async (io, { tenant }) => {
      const placed = await listProjects(io, tenant);
      io.table(placed.map(({ project }) => project), placed, COLUMNS, "(no projects)");
    }));
}
