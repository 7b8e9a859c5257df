// Shared by the silo verbs and other nouns: finding and printing a silo.
import type { Silo } from "../../../src/contract/tenancy.ts";
import { Failure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { blockText } from "../../internal/table.ts";
import { isUuid, named, pickRecord } from "../../internal/record-name.ts";

export const SILOS_PATH = "/v1/silos";
export const SILO_ARGUMENT = ["<silo>", "UUID, unique UUID prefix or name"] as const;
export const OWNER_OPTION = [
  "--owner-silo <silo>",
  "only tenants of this silo may use it: name or UUID; may be repeated",
] as const;

const SILO = named<Silo>("silo", "opsctl silo list");

/** Lists the silos for a name lookup. Adds a hint to a 403, because only root operators may list silos. */
export async function allSilos(io: Io): Promise<Silo[]> {
  try {
    return await io.get<Silo[]>(SILOS_PATH);
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 403) throw error;
    const hint = "only a root operator can look up names; use the UUIDs of silos, tenants and projects";
    const { exit_code, status, error_code, request_id } = error;
    throw new Failure(`${error.message}; ${hint}`, exit_code, { status, error_code, request_id });
  }
}

/** Returns the UUID of a silo. A complete UUID needs no request; any other name is looked up in the list of silos. */
export async function resolveSilo(io: Io, name: string): Promise<string> {
  return isUuid(name) ? name.toLowerCase() : (await findSilo(io, name)).id;
}

export async function findSilo(io: Io, name: string): Promise<Silo> {
  if (isUuid(name)) return await io.get<Silo>(siloPath(name.toLowerCase()));
  return pickRecord(await allSilos(io), name, SILO);
}

export async function resolveOwners(io: Io, names: readonly string[]): Promise<string[]> {
  const silos = names.every(isUuid) ? [] : await allSilos(io);
  return names.map((name) => isUuid(name) ? name.toLowerCase() : pickRecord(silos, name, SILO).id);
}

export function siloPath(id: string): string {
  return `${SILOS_PATH}/${id}`;
}

export function siloText(silo: Silo): string {
  return blockText([
    ["id", silo.id],
    ["name", silo.name],
    ["description", silo.description],
    ["default_tenant_id", silo.default_tenant_id],
    ["created_at", silo.created_at],
  ]);
}
