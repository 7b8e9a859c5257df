import type { Project } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, showCommand } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import { needTenant, resolveProject } from "../scope.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one project", "shop")
    .argument("<project>", "UUID, unique UUID prefix or name")
    .action(withIo(async (io, name) => {
      const tenant = await needTenant(io);
      const project = await io.get<Project>(`/v1/tenants/${tenant}/projects/${await resolveProject(io, name)}`);
      io.print(
        project,
        blockText([
          ["id", project.id],
          ["name", project.name],
          ["description", project.description],
          ["tenant", project.tenant_id],
          ["created_at", project.created_at],
        ]),
      );
    }));
}
