// What is read of quotas without going through their mailboxes, joined with what is used.
import type { Kysely } from "kysely";
import type { Quota } from "../../src/contract/tenancy.ts";
import type { Database } from "../../src/db/tables.ts";
import { quotaView } from "./transition.ts";

/** Undefined when no quota is set. */
export async function findQuota(db: Kysely<Database>, project_id: string): Promise<Quota | undefined> {
  const row = await db.selectFrom("quota").innerJoin("project_usage as used", "used.project_id", "quota.project_id")
    .select(["quota.project_id", "tenant_id", "cpu_limit", "quota.memory_bytes", "quota.disk_bytes", "instance_limit"])
    .select(["updated_at", "used.cpu", "used.memory_bytes as used_memory", "used.disk_bytes as used_disk"])
    .select("used.instances").where("quota.project_id", "=", project_id).executeTakeFirst();
  if (row === undefined) return undefined;
  const { cpu, used_memory, used_disk, instances, ...limits } = row;
  const used = { cpu, memory_bytes: used_memory, disk_bytes: used_disk, instances };
  return quotaView({ ...limits, state: "set" }, used);
}
