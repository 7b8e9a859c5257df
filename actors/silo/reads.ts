// Queries for silos.
import type { Kysely } from "kysely";
import type { Silo } from "../../src/contract/tenancy.ts";
import type { Database } from "../../src/db/tables.ts";
import { reader } from "../record/reads.ts";
import { silo } from "./transition.ts";

const silos = reader("silo", ["id", "name", "description", "default_tenant_id", "created_at"], silo.view);

export const findSilo = silos.find;

/** Lists silos, oldest first. */
export function listSilos(db: Kysely<Database>, rows: number): Promise<Silo[]> {
  return silos.oldestFirst(db, {}, { rows });
}
