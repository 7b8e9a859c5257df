import type { ProjectTotal, SiteUsage } from "../../../src/contract/usage.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { type Column, WIDE_ID_COLUMN } from "../../internal/table.ts";
import { AMOUNT_COLUMNS, FROM_OPTION, TO_OPTION } from "../../internal/usage.ts";

const COLUMNS: readonly Column<ProjectTotal>[] = [
  // An older server sends no silo.
  ["TENANT", ({ silo, tenant, tenant_id }) => silo ? `${silo}/${tenant}` : tenant ?? tenant_id],
  ["PROJECT", ({ project, project_id }) => project ?? project_id],
  ["TENANT_ID", ({ tenant_id }) => tenant_id, WIDE_ID_COLUMN],
  ["PROJECT_ID", ({ project_id }) => project_id, WIDE_ID_COLUMN],
  ...AMOUNT_COLUMNS,
];

export function usage(summary: string): AnyCommand {
  return listCommand("usage", summary, "--from 2026-09-01 --to 2026-09-30 -o csv")
    .option(...FROM_OPTION)
    .option(...TO_OPTION)
    .action(withIo(async (io, { from, to }) => {
      const used = await io.get<SiteUsage>("/v1/system/usage", { from, to });
      io.table(used, used.projects, COLUMNS, `(no usage from ${used.from} to ${used.to})`);
      if (!used.closed) {
        io.note(`The usage up to ${used.to} may still grow: a day closes at the earliest an hour after its end, UTC`);
      }
    }));
}
