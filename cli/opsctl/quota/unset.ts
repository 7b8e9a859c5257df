import { type AnyCommand } from "../../framework.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { withIo } from "../../internal/run.ts";
import { findQuota } from "../../internal/quota.ts";
import { findSubject, IN_TENANT_OPTION, noQuota, SUBJECT_ARGUMENT } from "./subject.ts";

export function unset(): AnyCommand {
  return deleteCommand("unset", "Remove the quota of a tenant or a project; the site's defaults apply again", "web")
    .argument(...SUBJECT_ARGUMENT)
    .option(...IN_TENANT_OPTION)
    .action(withIo(async (io, name, { tenant }) => {
      const subject = await findSubject(io, name, tenant);
      if (await findQuota(io, subject) === null) throw noQuota(subject);
      await io.send({ method: "DELETE", path: `${subject.path}/quota` });
      io.print(null, `Removed the quota of ${subject.kind} ${subject.title}`);
    }));
}
