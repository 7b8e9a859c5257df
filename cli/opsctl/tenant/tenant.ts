// What the tenant verbs and those below them share: how a tenant is named and shown. Without a silo it is searched in all
// of them; its name need be unique in its silo only, and every silo has a tenant named default.
import type { Silo, Tenant } from "../../../src/contract/tenancy.ts";
import { usageFailure } from "../../internal/failure.ts";
import { inParallel } from "../../internal/in-parallel.ts";
import type { Io } from "../../internal/io.ts";
import { plainText } from "../../internal/plain-text.ts";
import { blockText } from "../../internal/table.ts";
import { isUuid, pickRecord, type RecordKind } from "../../internal/record-name.ts";
import { allSilos, findSilo, siloPath } from "../silo/silo.ts";

export const TENANT_ARGUMENT = ["<tenant>", "UUID, unique UUID prefix, name or SILO/NAME"] as const;
export const IN_SILO_OPTION = ["--silo <silo>", "look in this silo only, by name or UUID"] as const;

/** Requests for the tenants of several silos that run at a time. */
const WIDTH = 8;

export type PlacedTenant = { readonly silo: Silo; readonly tenant: Tenant };

const TENANT: RecordKind<PlacedTenant> = {
  one: "tenant",
  many: "tenants",
  list: "opsctl tenant list",
  id: ({ tenant }) => tenant.id,
  title: tenantPathName,
  isCalled: ({ tenant }, name) => tenant.name === name,
};

/** The tenants of one silo, or of all. */
export async function placedTenants(io: Io, silo: string | undefined): Promise<PlacedTenant[]> {
  const silos = silo === undefined ? await allSilos(io) : [await findSilo(io, silo)];
  const found = await inParallel(WIDTH, silos, (each) => io.get<Tenant[]>(tenantsPath(each.id)));
  return found.flatMap((tenants, at) => tenants.map((tenant) => ({ silo: silos[at]!, tenant })));
}

export async function findTenant(io: Io, name: string, silo?: string): Promise<PlacedTenant> {
  const wanted = tenantWanted(name, silo);
  return pickRecord(await placedTenants(io, wanted.silo), wanted.tenant, TENANT);
}

/** A whole UUID is taken as it is. */
export async function resolveTenant(io: Io, name: string): Promise<string> {
  return isUuid(name) ? name.toLowerCase() : (await findTenant(io, name)).tenant.id;
}

function tenantWanted(name: string, silo: string | undefined): { tenant: string; silo: string | undefined } {
  const parts = name.split("/");
  if (parts.length === 1) return { tenant: name, silo };
  // Names hold no slash, so it can only part a silo from its tenant.
  if (parts.length > 2 || parts.includes("")) throw usageFailure(`${name} is no tenant; write NAME or SILO/NAME`);
  if (silo !== undefined) throw usageFailure(`${name} names the silo already; leave out --silo`);
  return { tenant: parts[1]!, silo: parts[0]! };
}

export function tenantsPath(silo_id: string): string {
  return `${siloPath(silo_id)}/tenants`;
}

export function tenantPath({ silo, tenant }: PlacedTenant): string {
  return `${tenantsPath(silo.id)}/${tenant.id}`;
}

/** `acme/default`. */
export function tenantPathName({ silo, tenant }: PlacedTenant): string {
  return `${silo.name}/${tenant.name}`;
}

/** `acme/default (019f...)`, safe to print. */
export function tenantTitle(placed: PlacedTenant): string {
  return `${plainText(tenantPathName(placed))} (${plainText(placed.tenant.id)})`;
}

export function tenantText({ silo, tenant }: PlacedTenant): string {
  return blockText([
    ["id", tenant.id],
    ["name", tenant.name],
    ["description", tenant.description],
    ["silo", silo.name],
    ["silo_id", tenant.silo_id],
    ["created_at", tenant.created_at],
  ]);
}
