// Resolves the tenant and the project of a request. A UUID needs no lookup; a name needs a lookup. If neither the
// command line nor the environment names the tenant or the project, a lookup may find it.
import type { Whoami } from "../../src/contract/api-key.ts";
import type { Project, Silo, Tenant } from "../../src/contract/tenancy.ts";
import { usageFailure } from "../internal/failure.ts";
import type { Query } from "../internal/exchange.ts";
import type { TenantIo } from "./open-io.ts";
import { isUuid } from "../internal/record-name.ts";
import { pick } from "./record/pick.ts";
import { claimsOf } from "./session/claims.ts";
import { profileOf, readLogin } from "./session/saved-login.ts";

/**
 * Returns the tenant's UUID. The sources, in this order: --tenant, TENANTCTL_TENANT, the token's claims, the tenant
 * saved with the API key, the server's whoami. So an API key that is bound to a tenant needs no flag. Returns undefined
 * if the tenant is unknown; the server then rejects the request.
 */
export async function tenantOf(io: TenantIo): Promise<string | undefined> {
  const named = firstSet(io.flags.tenant, io.environment.env.TENANTCTL_TENANT);
  if (named === undefined) return await tenantOfCredential(io) ?? await tenantOfWhoami(io);
  if (isUuid(named)) return named.toLowerCase();
  return pick(await visibleTenants(io), { name: named, singular: "tenant", plural: "tenants", is_listed: false }).id;
}

/**
 * Returns the selectors of requests that list or create records in a project. Without --project and
 * TENANTCTL_PROJECT, the project is the tenant's only project. An unknown selector is undefined, and the server's error
 * names the missing selector.
 */
export async function projectScope(io: TenantIo): Promise<Query> {
  // If the projects cannot be listed, the request itself fails, and its error names the missing selector.
  await useSoleProject(io).catch(() => null);
  return await givenScope(io);
}

/** Returns the selectors that the command line, the environment and the credential give. */
export async function givenScope(io: TenantIo): Promise<Query> {
  return { tenant: await io.tenant(), project: await io.project() };
}

/** Returns the project's UUID from --project, else TENANTCTL_PROJECT. */
export async function projectOf(io: TenantIo): Promise<string | undefined> {
  const named = givenProject(io);
  return named === undefined ? undefined : await resolveProject(io, named);
}

/** Returns the name or UUID of the project that the user gave, without a request. */
function givenProject(io: TenantIo): string | undefined {
  return firstSet(io.flags.project, io.environment.env.TENANTCTL_PROJECT);
}

/**
 * Throws a usage Failure if the user gave no project and `useSoleProject` finds none. The failure names the tenant's
 * projects.
 */
export async function needProject(io: TenantIo, purpose: string): Promise<void> {
  const found = await useSoleProject(io);
  if (found === "used") return;
  const projects = found === "unknown" ? "" : `; ${projectsText(found)}`;
  throw usageFailure(`--project is required to ${purpose}${projects}`);
}

/**
 * If the user gave no project, uses the tenant's only project and prints a note with its name. Prints no note if the
 * output is JSON. Returns:
 * - "used" if the user gave a project, or the tenant has only one.
 * - "unknown" if the tenant is unknown.
 * - Otherwise the tenant's projects.
 */
async function useSoleProject(io: TenantIo): Promise<"used" | "unknown" | readonly Project[]> {
  if (givenProject(io) !== undefined || await io.project() !== undefined) return "used";
  const tenant = await io.tenant();
  if (tenant === undefined) return "unknown";
  const projects = await projectsOf(io, tenant);
  const [only, other] = projects;
  if (only === undefined || other !== undefined) return projects;
  io.useProject(only.id);
  if (!io.json) io.note(`In project ${only.name}, the only one of the tenant`);
  return "used";
}

const PROJECTS_NAMED_MAX = 5;

/** Returns a text such as `the tenant has 2 projects (shop, lab)`. */
export function projectsText(projects: readonly Pick<Project, "name">[]): string {
  if (projects.length === 0) {
    return "the tenant has no project; to create one, run: tenantctl project create --name NAME";
  }
  if (projects.length === 1) return `the tenant has one project (${projects[0]!.name})`;
  const names = projects.slice(0, PROJECTS_NAMED_MAX).map(({ name }) => name).join(", ");
  return `the tenant has ${projects.length} projects (${names}${projects.length > PROJECTS_NAMED_MAX ? ", …" : ""})`;
}

export async function resolveProject(io: TenantIo, named: string): Promise<string> {
  if (isUuid(named)) return named.toLowerCase();
  const tenant = await io.tenant();
  if (tenant === undefined) {
    throw usageFailure(`${named} is not the UUID of a project; to find it by name, also pass --tenant`);
  }
  return pick(await projectsOf(io, tenant), { name: named, singular: "project", plural: "projects" }).id;
}

export async function projectsOf(io: TenantIo, tenant: string, label?: string): Promise<Project[]> {
  return await io.get<Project[]>(`/v1/tenants/${tenant}/projects`, { label });
}

/** Returns the tenant for the path of a request. Throws a usage Failure if unknown. */
export async function needTenant(io: TenantIo): Promise<string> {
  const tenant = await io.tenant();
  if (tenant !== undefined) return tenant;
  throw usageFailure("no tenant: pass --tenant, set TENANTCTL_TENANT, or run tenantctl login");
}

/** Returns the tenant in a token's claims, or the tenant saved with the API key. */
async function tenantOfCredential(io: TenantIo): Promise<string | undefined> {
  const { endpoint, token } = await io.connection();
  const claimed = claimsOf(token)?.tenant_id;
  if (typeof claimed === "string") return claimed;
  // A saved login that cannot be read is ignored, because the token may come from a flag or a variable.
  const saved = await profileOf(io.environment, io.flags)
    .then((profile) => readLogin(io.environment, profile)).catch(() => null);
  const is_same = saved !== null && "api_key" in saved && saved.api_key === token && saved.endpoint === endpoint;
  return is_same ? saved.tenant_id ?? undefined : undefined;
}

/** Asks the server for the tenant of the credential. Returns undefined without a tenant, as for an operator's key. */
async function tenantOfWhoami(io: TenantIo): Promise<string | undefined> {
  return (await io.get<Whoami>("/v1/auth/whoami")).tenant_id ?? undefined;
}

/**
 * Lists the tenants that a name may refer to: all tenants for an operator, the silo's tenants for a silo admin, and
 * only the caller's tenant for anyone else.
 */
async function visibleTenants(io: TenantIo): Promise<readonly Pick<Tenant, "id" | "name">[]> {
  const { silo_id, tenant_id, tenant_name, capabilities } = await io.get<Whoami>("/v1/auth/whoami");
  const administers = silo_id !== null && capabilities.includes("silo-admin");
  if (tenant_id !== null && !administers) return [{ id: tenant_id, name: tenant_name ?? tenant_id }];
  const silos = silo_id === null ? (await io.get<Silo[]>("/v1/silos")).map(({ id }) => id) : [silo_id];
  const found: Tenant[] = [];
  for (const silo of silos) found.push(...await io.get<Tenant[]>(`/v1/silos/${silo}/tenants`));
  return found;
}

function firstSet(flag: string | undefined, variable: string | undefined): string | undefined {
  return flag ?? (variable === "" ? undefined : variable);
}
