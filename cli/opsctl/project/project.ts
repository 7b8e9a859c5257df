// Defines how commands list, find and print projects. Other commands also use this module to look up a project. Without
// a tenant, every tenant is searched.
import type { Project } from "../../../src/contract/tenancy.ts";
import { usageFailure } from "../../internal/failure.ts";
import { inParallel } from "../../internal/in-parallel.ts";
import type { Io } from "../../internal/io.ts";
import { plainText } from "../../internal/plain-text.ts";
import { AGE_COLUMN, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { isUuid, pickRecord, type RecordKind } from "../../internal/record-name.ts";
import type { Kind } from "../record/kind.ts";
import { findTenant, listTenants, tenantPathName } from "../tenant/tenant.ts";

/** Maximum number of concurrent requests for the projects of several tenants. */
const REQUESTS_AT_A_TIME = 8;

/** `name` is `acme/default`, or the UUID if the caller gave one. */
type TenantRef = { readonly id: string; readonly name: string };
export type ProjectInTenant = { readonly tenant: TenantRef; readonly project: Project };

const PROJECT_NAME: RecordKind<ProjectInTenant> = {
  one: "project",
  many: "projects",
  list: "opsctl project list",
  id: ({ project }) => project.id,
  title: pathName,
  isCalled: ({ project }, name) => project.name === name,
};

/** Lists the projects of one tenant, or of every tenant. */
export async function listProjects(io: Io, tenant: string | undefined): Promise<ProjectInTenant[]> {
  const tenants = tenant === undefined ? await allTenants(io) : [await tenantRef(io, tenant)];
  const found = await inParallel(REQUESTS_AT_A_TIME, tenants, ({ id }) => io.get<Project[]>(projectsPath(id)));
  return found.flatMap((projects, at) => projects.map((project) => ({ tenant: tenants[at]!, project })));
}

export async function findProject(io: Io, name: string, tenant?: string): Promise<ProjectInTenant> {
  const wanted = projectWanted(name, tenant);
  if (wanted.tenant !== undefined && isUuid(wanted.project)) {
    const ref = await tenantRef(io, wanted.tenant);
    return { tenant: ref, project: await io.get<Project>(`${projectsPath(ref.id)}/${wanted.project.toLowerCase()}`) };
  }
  return pickRecord(await listProjects(io, wanted.tenant), wanted.project, PROJECT_NAME);
}

export async function tenantRef(io: Io, name: string): Promise<TenantRef> {
  if (isUuid(name)) return { id: name.toLowerCase(), name: name.toLowerCase() };
  const placed = await findTenant(io, name);
  return { id: placed.tenant.id, name: tenantPathName(placed) };
}

async function allTenants(io: Io): Promise<TenantRef[]> {
  return (await listTenants(io, undefined)).map((placed) => ({
    id: placed.tenant.id,
    name: tenantPathName(placed),
  }));
}

function projectWanted(name: string, tenant: string | undefined): { project: string; tenant: string | undefined } {
  const parts = name.split("/");
  if (parts.length === 1) return { project: name, tenant };
  // Names have no slash, so a slash separates a project from its tenant.
  if (parts.length > 3 || parts.includes("")) {
    throw usageFailure(`${name} is not a project name; write NAME, TENANT/NAME or SILO/TENANT/NAME`);
  }
  if (tenant !== undefined) throw usageFailure(`${name} includes the tenant; remove --tenant`);
  return { project: parts.at(-1)!, tenant: parts.slice(0, -1).join("/") };
}

export function projectsPath(tenant_id: string): string {
  return `/v1/tenants/${tenant_id}/projects`;
}

export function projectPath({ tenant, project }: ProjectInTenant): string {
  return `${projectsPath(tenant.id)}/${project.id}`;
}

function pathName({ tenant, project }: ProjectInTenant): string {
  return `${tenant.name}/${project.name}`;
}

/** Returns `acme/default/web (019f...)`, safe to print. */
export function projectTitle(placed: ProjectInTenant): string {
  return `${plainText(pathName(placed))} (${plainText(placed.project.id)})`;
}

export const PROJECT: Kind<ProjectInTenant> = {
  one: "project",
  many: "projects",
  argument: ["<project>", "UUID, unique UUID prefix, name, TENANT/NAME or SILO/TENANT/NAME"],
  sample: "shop --tenant web",
  parent: {
    name: "tenant",
    list: ["--tenant <tenant>", "only projects of this tenant: name, SILO/NAME or UUID"],
    find: ["--tenant <tenant>", "search only this tenant: name, SILO/NAME or UUID"],
    sample: "--tenant web",
  },
  summaries: { list: "List projects", delete: "Delete an empty project" },
  columns: [
    ["NAME", ({ project }) => project.name],
    ["TENANT", ({ tenant }) => tenant.name],
    ["ID", ({ project }) => project.id, ID_COLUMN],
    ["AGE", ({ project }) => project.created_at, AGE_COLUMN],
    ["CREATED_AT", ({ project }) => project.created_at, WIDE_COLUMN],
    ["DESCRIPTION", ({ project }) => project.description],
  ],
  lines: ({ tenant, project }) => [
    ["id", project.id],
    ["name", project.name],
    ["description", project.description],
    ...(tenant.name === tenant.id ? [] : [["tenant", tenant.name] as const]),
    ["tenant_id", project.tenant_id],
    ["created_at", project.created_at],
  ],
  all: listProjects,
  find: findProject,
  is_array: true,
  record: ({ project }) => project,
  path: projectPath,
  title: projectTitle,
};
