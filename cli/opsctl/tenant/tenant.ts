// Defines how commands list, find and print tenants. Other commands also use this module to look up a tenant. Without a
// silo, every silo is searched. A name is unique only in its silo, and each new silo gets a tenant named default.
import type { Silo, Tenant } from "../../../src/contract/tenancy.ts";
import { usageFailure } from "../../internal/failure.ts";
import { inParallel } from "../../internal/in-parallel.ts";
import type { Io } from "../../internal/io.ts";
import { plainText } from "../../internal/plain-text.ts";
import { AGE_COLUMN, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { isUuid, pickRecord, type RecordKind } from "../../internal/record-name.ts";
import type { Kind } from "../record/kind.ts";
import { allSilos, findSilo, siloPath } from "../silo/silo.ts";

/** Maximum number of concurrent requests for the tenants of several silos. */
const REQUESTS_AT_A_TIME = 8;

export type TenantInSilo = { readonly silo: Silo; readonly tenant: Tenant };

const TENANT_NAME: RecordKind<TenantInSilo> = {
  one: "tenant",
  many: "tenants",
  list: "opsctl tenant list",
  id: ({ tenant }) => tenant.id,
  title: tenantPathName,
  isCalled: ({ tenant }, name) => tenant.name === name,
};

/** Lists the tenants of one silo, or of every silo. */
export async function listTenants(io: Io, silo: string | undefined): Promise<TenantInSilo[]> {
  const silos = silo === undefined ? await allSilos(io) : [await findSilo(io, silo)];
  const found = await inParallel(REQUESTS_AT_A_TIME, silos, (each) => io.get<Tenant[]>(tenantsPath(each.id)));
  return found.flatMap((tenants, at) => tenants.map((tenant) => ({ silo: silos[at]!, tenant })));
}

export async function findTenant(io: Io, name: string, silo?: string): Promise<TenantInSilo> {
  const wanted = tenantWanted(name, silo);
  return pickRecord(await listTenants(io, wanted.silo), wanted.tenant, TENANT_NAME);
}

/** Returns the UUID of a tenant. Looks up any name that is not a complete UUID. */
export async function resolveTenant(io: Io, name: string): Promise<string> {
  return isUuid(name) ? name.toLowerCase() : (await findTenant(io, name)).tenant.id;
}

function tenantWanted(name: string, silo: string | undefined): { tenant: string; silo: string | undefined } {
  const parts = name.split("/");
  if (parts.length === 1) return { tenant: name, silo };
  // Names have no slash, so a slash separates a silo from its tenant.
  if (parts.length > 2 || parts.includes("")) {
    throw usageFailure(`${name} is not a tenant name; write NAME or SILO/NAME`);
  }
  if (silo !== undefined) throw usageFailure(`${name} includes the silo; remove --silo`);
  return { tenant: parts[1]!, silo: parts[0]! };
}

export function tenantsPath(silo_id: string): string {
  return `${siloPath(silo_id)}/tenants`;
}

export function tenantPath({ silo, tenant }: TenantInSilo): string {
  return `${tenantsPath(silo.id)}/${tenant.id}`;
}

/** Returns `acme/default`. */
export function tenantPathName({ silo, tenant }: TenantInSilo): string {
  return `${silo.name}/${tenant.name}`;
}

/** Returns `acme/default (019f...)`, safe to print. */
export function tenantTitle(placed: TenantInSilo): string {
  return `${plainText(tenantPathName(placed))} (${plainText(placed.tenant.id)})`;
}

export const TENANT: Kind<TenantInSilo> = {
  one: "tenant",
  many: "tenants",
  argument: ["<tenant>", "UUID, unique UUID prefix, name or SILO/NAME"],
  sample: "web --silo acme",
  parent: {
    name: "silo",
    list: ["--silo <silo>", "only tenants of this silo: name or UUID"],
    find: ["--silo <silo>", "search only this silo: name or UUID"],
    sample: "--silo acme",
  },
  summaries: { list: "List tenants", delete: "Delete an empty tenant" },
  columns: [
    ["NAME", ({ tenant }) => tenant.name],
    ["SILO", ({ silo }) => silo.name],
    ["ID", ({ tenant }) => tenant.id, ID_COLUMN],
    ["AGE", ({ tenant }) => tenant.created_at, AGE_COLUMN],
    ["CREATED_AT", ({ tenant }) => tenant.created_at, WIDE_COLUMN],
    ["DESCRIPTION", ({ tenant }) => tenant.description],
  ],
  lines: ({ silo, tenant }) => [
    ["id", tenant.id],
    ["name", tenant.name],
    ["description", tenant.description],
    ["silo", silo.name],
    ["silo_id", tenant.silo_id],
    ["created_at", tenant.created_at],
  ],
  all: listTenants,
  find: findTenant,
  is_array: true,
  record: ({ tenant }) => tenant,
  path: tenantPath,
  title: tenantTitle,
};
