import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";
import { listProjects, type ProjectInTenant } from "./project.ts";

const COLUMNS: readonly Column<ProjectInTenant>[] = [
  ["ID", ({ project }) => project.id],
  ["TENANT", ({ tenant }) => tenant.name],
  ["NAME", ({ project }) => project.name],
  ["CREATED_AT", ({ project }) => project.created_at],
  ["DESCRIPTION", ({ project }) => project.description],
];

export function list(): AnyCommand {
  return command("list", "List projects", "--tenant web")
    .option("--tenant <tenant>", "only projects of this tenant: name, SILO/NAME or UUID")
    .action(withIo(async (io, { tenant }) => {
      const placed = await listProjects(io, tenant);
      io.table(placed.map(({ project }) => project), placed, COLUMNS, "(no projects)");
    }));
}
