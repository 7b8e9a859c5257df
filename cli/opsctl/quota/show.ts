import { type AnyCommand, showCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { capOf, findQuota, isLimited, quotaText, withoutQuota } from "../../internal/quota.ts";
import { findSubject, IN_TENANT_OPTION, SUBJECT_ARGUMENT } from "./subject.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show the quota and usage of a tenant or a project", "web")
    .argument(...SUBJECT_ARGUMENT)
    .option(...IN_TENANT_OPTION)
    .action(withIo(async (io, name, { tenant }) => {
      const subject = await findSubject(io, name, tenant);
      const { kind, id, tenant_id } = subject;
      const quota = await findQuota(io, subject);
      const shown = quota ?? await withoutQuota(io, { ...subject, ...(kind === "project" && { project_id: id }) });
      const cap = kind === "project" ? await capOf(io, tenant_id) : null;
      io.print({ ...shown, ...(cap && { tenant: cap }) }, quotaText(shown, cap));
      if (quota !== null) return;
      const limit = isLimited(shown) ? "the site's defaults apply" : `the ${kind} is unlimited`;
      io.note(`No quota is set: ${limit}`);
    }));
}
