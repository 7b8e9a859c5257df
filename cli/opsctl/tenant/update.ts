import type { Tenant } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { DESCRIPTION_OPTION, NAME_OPTION, patchOf } from "../../internal/named-patch.ts";
import { findTenant, IN_SILO_OPTION, TENANT_ARGUMENT, tenantPath, tenantTitle } from "./tenant.ts";

export function update(): AnyCommand {
  return command("update", "Change the name or description of a tenant", "web --silo acme --name shop")
    .argument(...TENANT_ARGUMENT)
    .option(...IN_SILO_OPTION)
    .option(...NAME_OPTION)
    .option(...DESCRIPTION_OPTION)
    .action(withIo(async (io, name, { silo, ...options }) => {
      const body = patchOf(options);
      const placed = await findTenant(io, name, silo);
      const tenant = await io.send<Tenant>({ method: "PATCH", path: tenantPath(placed), body });
      io.print(tenant, `Updated tenant ${tenantTitle({ ...placed, tenant })}`);
    }));
}
