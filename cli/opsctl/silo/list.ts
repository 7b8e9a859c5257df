import type { Silo } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";
import { SILOS_PATH } from "./silo.ts";

const COLUMNS: readonly Column<Silo>[] = [
  ["ID", (silo) => silo.id],
  ["NAME", (silo) => silo.name],
  ["DEFAULT_TENANT_ID", (silo) => silo.default_tenant_id],
  ["CREATED_AT", (silo) => silo.created_at],
  ["DESCRIPTION", (silo) => silo.description],
];

export function list(): AnyCommand {
  return command("list", "List silos, oldest first")
    .action(withIo(async (io) => {
      const silos = await io.get<Silo[]>(SILOS_PATH);
      io.table(silos, silos, COLUMNS, "(no silos)");
    }));
}
