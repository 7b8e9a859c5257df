// Queries for tenants.
import type { Kysely } from "kysely";
import type { Tenant } from "../../src/contract/tenancy.ts";
import type { Database } from "../../src/db/tables.ts";
import { reader } from "../record/reads.ts";
import { tenant } from "./transition.ts";

const tenants = reader("tenant", ["id", "silo_id", "name", "description", "created_at"], tenant.view);

export const findTenant = tenants.find;

/** Lists the tenants of a silo, oldest first. */
export function listTenants(db: Kysely<Database>, silo_id: string, rows: number): Promise<Tenant[]> {
  return tenants.oldestFirst(db, { silo_id }, { rows });
}
