import { type AnyCommand, command } from "../../framework.ts";
import { EXIT } from "../../kit/exit-code.ts";
import { Failure } from "../../kit/failure.ts";
import { withIo } from "../../kit/run.ts";
import { findProject, IN_TENANT_OPTION, PROJECT_ARGUMENT, projectTitle } from "../project/project.ts";
import { findQuota, quotaPath } from "./quota.ts";

export function unset(): AnyCommand {
  return command("unset", "Lift the quota of a project")
    .argument(...PROJECT_ARGUMENT)
    .option(...IN_TENANT_OPTION)
    .action(withIo(async (io, name, { tenant }) => {
      const placed = await findProject(io, name, tenant);
      if (await findQuota(io, placed) === null) {
        throw new Failure(`project ${projectTitle(placed)} has no quota`, EXIT.not_found);
      }
      await io.send({ method: "DELETE", path: quotaPath(placed) });
      io.print(null, `Lifted the quota of project ${projectTitle(placed)}`);
    }));
}
