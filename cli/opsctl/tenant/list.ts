import { type AnyCommand, listCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { AGE_COLUMN, type Column, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { listTenants, type TenantInSilo } from "./tenant.ts";

const COLUMNS: readonly Column<TenantInSilo>[] = [
  ["NAME", ({ tenant }) => tenant.name],
  ["SILO", ({ silo }) => silo.name],
  ["ID", ({ tenant }) => tenant.id, ID_COLUMN],
  ["AGE", ({ tenant }) => tenant.created_at, AGE_COLUMN],
  ["CREATED_AT", ({ tenant }) => tenant.created_at, WIDE_COLUMN],
  ["DESCRIPTION", ({ tenant }) => tenant.description],
];

export function list(): AnyCommand {
  return listCommand("list", "List tenants", "--silo acme")
    .option("--silo <silo>", "only tenants of this silo: name or UUID")
    .action(withIo(async (io, { silo }) => {
      const placed = await listTenants(io, silo);
      io.table(placed.map(({ tenant }) => tenant), placed, COLUMNS, "(no tenants)");
    }));
}
