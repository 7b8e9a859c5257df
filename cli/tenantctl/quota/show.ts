import { type AnyCommand, showCommand } from "../../framework.ts";
import { capOf, findQuota, quotaText, withoutQuota } from "../../internal/quota.ts";
import { withIo } from "../open-io.ts";
import { needProject, needTenant } from "../scope.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show the quota and usage of a project, and of its tenant")
    .action(withIo(async (io) => {
      await needProject(io, "show a quota");
      const [tenant_id, project_id] = [await needTenant(io), await io.project()];
      const of = { tenant_id, project_id, path: `/v1/tenants/${tenant_id}/projects/${project_id}` };
      const shown = await findQuota(io, of) ?? await withoutQuota(io, of);
      const cap = await capOf(io, tenant_id);
      io.print({ ...shown, ...(cap && { tenant: cap }) }, quotaText(shown, cap));
    }));
}
