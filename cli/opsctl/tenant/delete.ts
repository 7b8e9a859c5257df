import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { findTenant, IN_SILO_OPTION, TENANT_ARGUMENT, tenantPath, tenantTitle } from "./tenant.ts";

export function remove(): AnyCommand {
  return command("delete", "Delete an empty tenant", "web --silo acme")
    .argument(...TENANT_ARGUMENT)
    .option(...IN_SILO_OPTION)
    .action(withIo(async (io, name, { silo }) => {
      const found = await findTenant(io, name, silo);
      await io.send({ method: "DELETE", path: tenantPath(found) });
      io.print(null, `Deleted tenant ${tenantTitle(found)}`);
    }));
}
