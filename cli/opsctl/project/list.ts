import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";
import { type PlacedProject, placedProjects } from "./project.ts";

const COLUMNS: readonly Column<PlacedProject>[] = [
  ["ID", ({ project }) => project.id],
  ["TENANT", ({ tenant }) => tenant.name],
  ["NAME", ({ project }) => project.name],
  ["CREATED_AT", ({ project }) => project.created_at],
  ["DESCRIPTION", ({ project }) => project.description],
];

export function list(): AnyCommand {
  return command("list", "List projects, of one tenant or of all")
    .option("--tenant <tenant>", "only those of this tenant, by name, SILO/NAME or UUID")
    .action(withIo(async (io, { tenant }) => {
      const placed = await placedProjects(io, tenant);
      io.table(placed.map(({ project }) => project), placed, COLUMNS, "(no projects)");
    }));
}
