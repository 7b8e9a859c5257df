// Queries for the quotas of projects, with the usage.
import type { Kysely } from "kysely";
import type { Quota } from "../../src/contract/tenancy.ts";
import type { Database } from "../../src/db/tables.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { exactNumber } from "../record/reads.ts";

/** Returns undefined for a project without a quota. */
export async function findQuota(db: Kysely<Database>, project_id: string): Promise<Quota | undefined> {
  const row = await db.selectFrom("quota").innerJoin("project_usage as used", "used.project_id", "quota.project_id")
    .select(["quota.project_id", "tenant_id", "cpu_limit", "quota.memory_bytes", "quota.disk_bytes", "instance_limit"])
    .select(["updated_at", "used.cpu", "used.instances"])
    .select([exactNumber("used.memory_bytes").as("used_memory"), exactNumber("used.disk_bytes").as("used_disk")])
    .where("quota.project_id", "=", project_id).executeTakeFirst();
  if (row === undefined) return undefined;
  const { cpu, used_memory, used_disk, instances, updated_at, ...limits } = row;
  const used = { cpu, memory_bytes: used_memory, disk_bytes: used_disk, instances };
  return { ...limits, used, updated_at: toRfc3339(updated_at) };
}
