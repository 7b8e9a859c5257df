import type { Quota, Usage } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { Failure, usageFailure } from "../../kit/failure.ts";
import { quotaText, type Unlimited } from "../../opsctl/quota/quota.ts";
import { type TenantIo, withIo } from "../open-io.ts";
import { needTenant } from "../scope.ts";

const NOT_FOUND = 404;

export function show(): AnyCommand {
  return command("show", "Show what the instances of a project take, and its limits")
    .action(withIo(async (io) => {
      const project_id = await io.project();
      if (project_id === undefined) throw usageFailure("--project is required to show a quota");
      const tenant_id = await needTenant(io);
      const path = `/v1/tenants/${tenant_id}/projects/${project_id}`;
      const quota = await findQuota(io, path) ?? unlimited({ tenant_id, project_id }, await io.get(`${path}/usage`));
      io.print(quota, quotaText(quota));
    }));
}

/** Null where none is set. */
async function findQuota(io: TenantIo, path: string): Promise<Quota | null> {
  try {
    return await io.get<Quota>(`${path}/quota`);
  } catch (error) {
    if (error instanceof Failure && error.status === NOT_FOUND) return null;
    throw error;
  }
}

function unlimited(owner: Pick<Quota, "tenant_id" | "project_id">, used: Usage): Unlimited {
  const none = { cpu_limit: null, memory_bytes: null, disk_bytes: null, instance_limit: null, updated_at: null };
  return { ...owner, ...none, used };
}
