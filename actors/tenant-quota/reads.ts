// Queries for the quotas and the usage of tenants.
import { type Kysely, sql } from "kysely";
import type { Limits, TenantQuota, Usage, UsageView } from "../../src/contract/tenancy.ts";
import type { Database } from "../../src/db/tables.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { exactNumber } from "../record/reads.ts";

type Db = Kysely<Database>;

const LIMITS = ["cpu_limit", "memory_bytes", "disk_bytes", "instance_limit"] as const;

/** Returns undefined for a tenant without a quota. */
export async function findTenantQuota(db: Db, tenant_id: string): Promise<TenantQuota | undefined> {
  const row = await db.selectFrom("tenant_quota").select(["tenant_id", ...LIMITS, "updated_at"])
    .where("tenant_id", "=", tenant_id).executeTakeFirst();
  if (row === undefined) return undefined;
  const { updated_at, ...limits } = row;
  return { ...limits, used: await findTenantUsage(db, tenant_id), updated_at: toRfc3339(updated_at) };
}

/** Returns the usage of all projects of the tenant together. */
export async function findTenantUsage(db: Db, tenant_id: string): Promise<Usage> {
  const used = await db.selectFrom("tenant_usage").select(["cpu", "instances"])
    .select([exactNumber("memory_bytes").as("memory_bytes"), exactNumber("disk_bytes").as("disk_bytes")])
    .where("tenant_id", "=", tenant_id).executeTakeFirst();
  return used ?? { cpu: 0, memory_bytes: 0, disk_bytes: 0, instances: 0 };
}

/** Returns the limits that apply to a tenant or a project: its own quota, or else the defaults. */
export async function limitsInForce(
  db: Db,
  of: { readonly kind: "tenant" | "project"; readonly id: string },
  defaults: Limits,
): Promise<UsageView["limits"]> {
  const limits = sql.raw(`limits_of_${of.kind}`);
  const { rows } = await sql<UsageView["limits"]>`
    select cpu as cpu_limit, memory_bytes, disk_bytes, instances as instance_limit
      from ${limits}(${of.id}::uuid, ${JSON.stringify(defaults)}::jsonb)`.execute(db);
  return rows[0]!;
}
