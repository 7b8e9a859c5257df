import type { Silo } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { AGE_COLUMN, type Column, ID_COLUMN, WIDE_COLUMN, WIDE_ID_COLUMN } from "../../internal/table.ts";
import { SILOS_PATH } from "./silo.ts";

const COLUMNS: readonly Column<Silo>[] = [
  ["NAME", (silo) => silo.name],
  ["ID", (silo) => silo.id, ID_COLUMN],
  ["DEFAULT_TENANT_ID", (silo) => silo.default_tenant_id, WIDE_ID_COLUMN],
  ["AGE", (silo) => silo.created_at, AGE_COLUMN],
  ["CREATED_AT", (silo) => silo.created_at, WIDE_COLUMN],
  ["DESCRIPTION", (silo) => silo.description],
];

export function list(): AnyCommand {
  return listCommand("list", "List silos, oldest first")
    .action(withIo(async (io) => {
      const silos = await io.get<Silo[]>(SILOS_PATH);
      io.table(silos, silos, COLUMNS, "(no silos)");
    }));
}
