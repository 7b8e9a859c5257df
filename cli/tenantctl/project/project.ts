// Contains the parts that the verbs of projects share.
import type { Project } from "../../../src/contract/tenancy.ts";
import { labelLines } from "../../internal/labels.ts";
import { blockText } from "../../internal/table.ts";
import type { TenantIo } from "../open-io.ts";
import { needTenant, resolveProject } from "../scope.ts";

export function projectsPath(tenant_id: string): string {
  return `/v1/tenants/${tenant_id}/projects`;
}

export async function projectPath(io: TenantIo, name: string): Promise<string> {
  const tenant = await needTenant(io);
  return `${projectsPath(tenant)}/${await resolveProject(io, name)}`;
}

/** Returns the lines that show and update print. */
export function projectText(project: Project): string {
  return blockText([
    ["id", project.id],
    ["name", project.name],
    ["description", project.description],
    ...labelLines(project.labels),
    ["tenant", project.tenant_id],
    ["created_at", project.created_at],
  ]);
}
