import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";
import { listTenants, type TenantInSilo } from "./tenant.ts";

const COLUMNS: readonly Column<TenantInSilo>[] = [
  ["ID", ({ tenant }) => tenant.id],
  ["SILO", ({ silo }) => silo.name],
  ["NAME", ({ tenant }) => tenant.name],
  ["CREATED_AT", ({ tenant }) => tenant.created_at],
  ["DESCRIPTION", ({ tenant }) => tenant.description],
];

export function list(): AnyCommand {
  return command("list", "List tenants", "--silo acme")
    .option("--silo <silo>", "only tenants of this silo: name or UUID")
    .action(withIo(async (io, { silo }) => {
      const placed = await listTenants(io, silo);
      io.table(placed.map(({ tenant }) => tenant), placed, COLUMNS, "(no tenants)");
    }));
}
