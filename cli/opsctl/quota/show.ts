import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../kit/run.ts";
import { findProject, IN_TENANT_OPTION, PROJECT_ARGUMENT } from "../project/project.ts";
import { findQuota, quotaText, unlimited } from "./quota.ts";

export function show(): AnyCommand {
  return command("show", "Show what a project may take and what it takes")
    .argument(...PROJECT_ARGUMENT)
    .option(...IN_TENANT_OPTION)
    .action(withIo(async (io, name, { tenant }) => {
      const placed = await findProject(io, name, tenant);
      const quota = await findQuota(io, placed);
      const shown = quota ?? await unlimited(io, placed);
      io.print(shown, quotaText(shown));
      if (quota === null) io.note("No quota is set: the project may take what there is");
    }));
}
