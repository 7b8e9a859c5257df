// Defines how commands list, find and print silos. Other commands also use this module to look up a silo.
import type { Silo } from "../../../src/contract/tenancy.ts";
import { Failure, reworded } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { AGE_COLUMN, ID_COLUMN, WIDE_COLUMN, WIDE_ID_COLUMN } from "../../internal/table.ts";
import { isUuid, named, pickRecord, titleOf } from "../../internal/record-name.ts";
import type { Kind } from "../record/kind.ts";

export const SILOS_PATH = "/v1/silos";
export const OWNER_OPTION = [
  "--owner-silo <silo>",
  "only tenants of this silo may use it: name or UUID; may be repeated",
] as const;

const SILO_NAME = named<Silo>("silo", "opsctl silo list");

/** Lists the silos for a name lookup. Adds a hint to a 403, because only root operators may list silos. */
export async function allSilos(io: Io): Promise<Silo[]> {
  try {
    return await io.get<Silo[]>(SILOS_PATH);
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 403) throw error;
    const hint = "only a root operator can look up names; use the UUIDs of silos, tenants and projects";
    throw reworded(error, `${error.message}; ${hint}`);
  }
}

export async function findSilo(io: Io, name: string): Promise<Silo> {
  if (isUuid(name)) return await io.get<Silo>(siloPath(name.toLowerCase()));
  return pickRecord(await allSilos(io), name, SILO_NAME);
}

export async function resolveOwners(io: Io, names: readonly string[]): Promise<string[]> {
  const silos = names.every(isUuid) ? [] : await allSilos(io);
  return names.map((name) => isUuid(name) ? name.toLowerCase() : pickRecord(silos, name, SILO_NAME).id);
}

export function siloPath(id: string): string {
  return `${SILOS_PATH}/${id}`;
}

export const SILO: Kind<Silo> = {
  one: "silo",
  many: "silos",
  argument: ["<silo>", "UUID, unique UUID prefix or name"],
  sample: "acme",
  summaries: {
    list: "List silos, oldest first",
    delete: 'Delete a silo and its tenant "default", if both are empty',
  },
  columns: [
    ["NAME", (silo) => silo.name],
    ["ID", (silo) => silo.id, ID_COLUMN],
    ["DEFAULT_TENANT_ID", (silo) => silo.default_tenant_id, WIDE_ID_COLUMN],
    ["AGE", (silo) => silo.created_at, AGE_COLUMN],
    ["CREATED_AT", (silo) => silo.created_at, WIDE_COLUMN],
    ["DESCRIPTION", (silo) => silo.description],
  ],
  lines: (silo) => [
    ["id", silo.id],
    ["name", silo.name],
    ["description", silo.description],
    ["default_tenant_id", silo.default_tenant_id],
    ["created_at", silo.created_at],
  ],
  all: (io) => io.get<Silo[]>(SILOS_PATH),
  find: findSilo,
  is_array: true,
  record: (silo) => silo,
  path: ({ id }) => siloPath(id),
  title: titleOf,
};
