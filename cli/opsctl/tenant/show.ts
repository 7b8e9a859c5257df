import { type AnyCommand, showCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { findTenant, IN_SILO_OPTION, TENANT_ARGUMENT, tenantText } from "./tenant.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one tenant", "web --silo acme")
    .argument(...TENANT_ARGUMENT)
    .option(...IN_SILO_OPTION)
    .action(withIo(async (io, name, { silo }) => {
      const placed = await findTenant(io, name, silo);
      io.print(placed.tenant, tenantText(placed));
    }));
}
