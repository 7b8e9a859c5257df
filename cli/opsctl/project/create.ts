import type { Project } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { DESCRIPTION_OPTION } from "../../internal/named-patch.ts";
import { projectsPath, projectTitle, tenantRef } from "./project.ts";

export function create(): AnyCommand {
  return command("create", "Create a project", "shop --tenant web")
    .argument("<name>", "1 to 63 bytes, without / or \\; unique in its tenant")
    .requiredOption("--tenant <tenant>", "tenant of the project: name, SILO/NAME or UUID")
    .option(...DESCRIPTION_OPTION)
    .action(withIo(async (io, name, { tenant: tenant_name, description }) => {
      const tenant = await tenantRef(io, tenant_name);
      const project = await io.post<Project>(projectsPath(tenant.id), { name, description });
      io.print(project, `Created project ${projectTitle({ tenant, project })}`);
    }));
}
