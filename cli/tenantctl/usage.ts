import type { DayUsage, ProjectUsage } from "../../src/contract/usage.ts";
import { type AnyCommand, listCommand } from "../framework.ts";
import type { Column } from "../internal/table.ts";
import { AMOUNT_COLUMNS, FROM_OPTION, TO_OPTION } from "../internal/usage.ts";
import { withIo } from "./open-io.ts";
import { needProject, needTenant } from "./scope.ts";

const COLUMNS: readonly Column<DayUsage>[] = [
  ["DAY", ({ day }) => day],
  ...AMOUNT_COLUMNS,
  ["CLOSED", ({ closed }) => closed],
];

export function usage(summary: string): AnyCommand {
  return listCommand("usage", summary, "--project shop --from 2026-09-01 --to 2026-09-30 -o csv")
    .option(...FROM_OPTION)
    .option(...TO_OPTION)
    .action(withIo(async (io, { from, to }) => {
      await needProject(io, "show usage");
      const path = `/v1/tenants/${await needTenant(io)}/projects/${await io.project()}/usage/days`;
      const used = await io.get<ProjectUsage>(path, { from, to });
      io.table(used, used.days, COLUMNS, `(no usage from ${used.from} to ${used.to})`);
    }));
}
