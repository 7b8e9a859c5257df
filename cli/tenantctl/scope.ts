// Which tenant and which project a request names. A UUID is taken as it is; only a name costs a request.
import type { Whoami } from "../../src/contract/api-key.ts";
import type { Project, Silo, Tenant } from "../../src/contract/tenancy.ts";
import { usageFailure } from "../internal/failure.ts";
import type { Query } from "../internal/exchange.ts";
import type { TenantIo } from "./open-io.ts";
import { isUuid } from "../internal/record-name.ts";
import { pick } from "./record/pick.ts";
import { claimsOf } from "./session/claims.ts";
import { readLogin } from "./session/saved-login.ts";

/**
 * --tenant, else TENANTCTL_TENANT, else what the credential says of itself, else what the server says of it: an API key
 * that is bound to a tenant needs no flag. The server never fills in a selector; undefined is left out, for it to ask.
 */
export async function tenantOf(io: TenantIo): Promise<string | undefined> {
  const named = wordOf(io.flags.tenant, io.environment.env.TENANTCTL_TENANT);
  if (named === undefined) return await tenantOfCredential(io) ?? await tenantTold(io);
  if (isUuid(named)) return named.toLowerCase();
  return pick(await visibleTenants(io), { name: named, argv: "tenant", plural: "tenants" }).id;
}

/** What lists and creates inside a project name. Selectors that nobody gave are left out, for the server to ask for. */
export async function projectScope(io: TenantIo): Promise<Query> {
  return { tenant: await io.tenant(), project: await io.project() };
}

/** --project, else TENANTCTL_PROJECT. */
export async function projectOf(io: TenantIo): Promise<string | undefined> {
  const named = projectWord(io);
  return named === undefined ? undefined : await resolveProject(io, named);
}

/** Whether a project was named, before anything is asked. */
function projectWord(io: TenantIo): string | undefined {
  return wordOf(io.flags.project, io.environment.env.TENANTCTL_PROJECT);
}

/** Throws a usage Failure when no project is named: document 3 has this checked before any request. */
export function needProject(io: TenantIo, what: string): void {
  if (projectWord(io) === undefined) throw usageFailure(`--project is required to create ${what}`);
}

export async function resolveProject(io: TenantIo, named: string): Promise<string> {
  if (isUuid(named)) return named.toLowerCase();
  const tenant = await io.tenant();
  if (tenant === undefined) {
    throw usageFailure(`${named} is not the UUID of a project; to find it by name, pass --tenant too`);
  }
  return pick(await projectsOf(io, tenant), { name: named, argv: "project", plural: "projects" }).id;
}

export async function projectsOf(io: TenantIo, tenant: string): Promise<Project[]> {
  return await io.get<Project[]>(`/v1/tenants/${tenant}/projects`);
}

/** The tenant, where it stands in the path of a request. */
export async function needTenant(io: TenantIo): Promise<string> {
  const tenant = await io.tenant();
  if (tenant !== undefined) return tenant;
  throw usageFailure("no tenant: pass --tenant, set TENANTCTL_TENANT, or run tenantctl login");
}

/** The claim of a token, or what the server told of the saved key when it was saved. */
async function tenantOfCredential(io: TenantIo): Promise<string | undefined> {
  const { endpoint, token } = await io.connection();
  const claimed = claimsOf(token)?.tenant_id;
  if (typeof claimed === "string") return claimed;
  // A saved login that cannot be read says nothing, and may not be what is used.
  const saved = await readLogin(io.environment).catch(() => null);
  const is_same = saved !== null && "api_key" in saved && saved.api_key === token && saved.endpoint === endpoint;
  return is_same ? saved.tenant_id ?? undefined : undefined;
}

/** What the server says of a credential that says nothing of itself: an API key. Undefined for an operator's. */
async function tenantTold(io: TenantIo): Promise<string | undefined> {
  return (await io.get<Whoami>("/v1/auth/whoami")).tenant_id ?? undefined;
}

/** Those of the silo for whoever administers it, those of all silos for an operator, the caller's own for the others. */
async function visibleTenants(io: TenantIo): Promise<readonly Pick<Tenant, "id" | "name">[]> {
  const { silo_id, tenant_id, tenant_name, capabilities } = await io.get<Whoami>("/v1/auth/whoami");
  const administers = silo_id !== null && capabilities.includes("silo-admin");
  if (tenant_id !== null && !administers) return [{ id: tenant_id, name: tenant_name ?? tenant_id }];
  const silos = silo_id === null ? (await io.get<Silo[]>("/v1/silos")).map(({ id }) => id) : [silo_id];
  const found: Tenant[] = [];
  for (const silo of silos) found.push(...await io.get<Tenant[]>(`/v1/silos/${silo}/tenants`));
  return found;
}

function wordOf(flag: string | undefined, variable: string | undefined): string | undefined {
  return flag ?? (variable === "" ? undefined : variable);
}
