import type { Tenant } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { DESCRIPTION_OPTION } from "../../internal/named-patch.ts";
import { findSilo } from "../silo/silo.ts";
import { tenantsPath, tenantTitle } from "./tenant.ts";

export function create(): AnyCommand {
  return command("create", "Create a tenant", "web --silo acme")
    .argument("<name>", "1 to 63 bytes, without / or \\; unique in its silo")
    .requiredOption("--silo <silo>", "silo of the tenant: name or UUID")
    .option(...DESCRIPTION_OPTION)
    .action(withIo(async (io, name, { silo: silo_name, description }) => {
      const silo = await findSilo(io, silo_name);
      const tenant = await io.post<Tenant>(tenantsPath(silo.id), { name, description });
      io.print(tenant, `Created tenant ${tenantTitle({ silo, tenant })}`);
    }));
}
