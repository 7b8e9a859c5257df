import type { ProjectTotal, SiteUsage } from "../../../src/contract/usage.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import type { Io } from "../../internal/io.ts";
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
      const used = await readUsage(io, { from, to });
      io.table(used, used.projects, COLUMNS, `(no usage from ${used.from} to ${used.to})`);
      if (!used.closed) {
        io.note(`The usage up to ${used.to} may still grow: a day closes at the earliest an hour after its end, UTC`);
      }
    }));
}

const PAGE_ROWS = 1_000;

/** Reads all pages. An older server ignores `limit` and sends everything as one page. */
async function readUsage(io: Io, { from, to }: { readonly from?: string; readonly to?: string }): Promise<SiteUsage> {
  const query = { from, to, limit: PAGE_ROWS };
  const { next_page, ...used } = await io.get<SiteUsage>("/v1/system/usage", query);
  const projects = [...used.projects];
  for (let page_token = next_page; page_token !== undefined;) {
    const { from, to } = used;
    const page = await io.get<SiteUsage>("/v1/system/usage", { ...query, from, to, page_token });
    projects.push(...page.projects);
    page_token = page.next_page;
  }
  return { ...used, projects: projects.sort(byName) };
}

/** Orders projects by the names of silos, tenants and projects. A deleted object has no name, and comes last. */
function byName(a: ProjectTotal, b: ProjectTotal): number {
  const others = namesOf(b);
  for (const [index, name] of namesOf(a).entries()) {
    const other = others[index] ?? null;
    if (name === other) continue;
    return name === null ? 1 : other === null || name < other ? -1 : 1;
  }
  return 0;
}

function namesOf({ silo, tenant, tenant_id, project, project_id }: ProjectTotal): (string | null)[] {
  return [silo, tenant, tenant_id, project, project_id];
}
