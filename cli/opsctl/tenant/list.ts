import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";
import { type PlacedTenant, placedTenants } from "./tenant.ts";

const COLUMNS: readonly Column<PlacedTenant>[] = [
  ["ID", ({ tenant }) => tenant.id],
  ["SILO", ({ silo }) => silo.name],
  ["NAME", ({ tenant }) => tenant.name],
  ["CREATED_AT", ({ tenant }) => tenant.created_at],
  ["DESCRIPTION", ({ tenant }) => tenant.description],
];

export function list(): AnyCommand {
  return command("list", "List tenants, of one silo or of all")
    .option("--silo <silo>", "only those of this silo, by name or UUID")
    .action(withIo(async (io, { silo }) => {
      const placed = await placedTenants(io, silo);
      io.table(placed.map(({ tenant }) => tenant), placed, COLUMNS, "(no tenants)");
    }));
}
