// Queries for projects and their usage.
import { type Kysely, sql } from "kysely";
import { badRequest, type Fault } from "../../src/contract/fault.ts";
import { USAGE_RANGE_DAYS_MAX } from "../../src/contract/limits.ts";
import type { Project, Usage } from "../../src/contract/tenancy.ts";
import type { ProjectTotal, ProjectUsage, SiteUsage } from "../../src/contract/usage.ts";
import type { Database } from "../../src/db/tables.ts";
import { exactNumber, type LabeledRows, reader } from "../record/reads.ts";
import { project } from "./transition.ts";

type Db = Kysely<Database>;

const projects = reader("project", ["id", "tenant_id", "name", "description", "labels", "created_at"], project.view);

export const findProject = projects.find;

/** Lists the projects of a tenant, oldest first. */
export function listProjects(db: Db, tenant_id: string, at: LabeledRows): Promise<Project[]> {
  return projects.oldestFirst(db, { tenant_id }, at);
}

export async function findUsage(db: Db, project_id: string): Promise<Usage | undefined> {
  return await db.selectFrom("project_usage").select(["cpu", "instances"])
    .select([exactNumber("memory_bytes").as("memory_bytes"), exactNumber("disk_bytes").as("disk_bytes")])
    .where("project_id", "=", project_id).executeTakeFirst();
}

type Range = { readonly from: string; readonly to: string };

const MS_PER_DAY = 86_400_000;

/** The sums over rows of usage_between, with the alias `u`. */
const AMOUNTS = sql.raw([
  ...["vcpu", "floating_ip"].map((of) => `round(coalesce(sum(u.${of}_seconds), 0) / 3600, 6)::float8 as ${of}_hours`),
  ...["memory", "disk"].map((of) =>
    `round(coalesce(sum(u.${of}_byte_seconds), 0) / 3600 / 1073741824, 6)::float8 as ${of}_gib_hours`
  ),
  ...["network_in_bytes", "network_out_bytes"].map((of) => `coalesce(sum(u.${of}), 0)::float8 as ${of}`),
].join(", "));

/** Returns the days that a query asks for, or a 400. The clock of the database defines the current day. */
export async function usageRange(db: Db, query: { from?: string; to?: string }): Promise<Range | Fault> {
  const { rows: [today] } = await sql<{ day: string }>`
    select to_char(berth_now() at time zone 'UTC', 'YYYY-MM-DD') as day`.execute(db);
  const to = query.to ?? today!.day;
  const from = query.from ?? `${to.slice(0, -2)}01`;
  if (from > to) return badRequest(`from: ${from} is after ${to}, the last day`);
  const days = (Date.parse(to) - Date.parse(from)) / MS_PER_DAY + 1;
  return days > USAGE_RANGE_DAYS_MAX
    ? badRequest(`from: ${days} days; ask for at most ${USAGE_RANGE_DAYS_MAX}`)
    : { from, to };
}

export async function readProjectUsage(db: Db, project_id: string, { from, to }: Range): Promise<ProjectUsage> {
  const { rows } = await sql<ProjectUsage["total"] & { readonly day: string | null; readonly closed: boolean }>`
    select to_char(u.day, 'YYYY-MM-DD') as day, bool_and(u.closed) as closed, ${AMOUNTS}
      from usage_between(${from}, ${to}, ${project_id}) u
     group by grouping sets ((u.day), ()) order by u.day nulls last`.execute(db);
  const days = rows.flatMap(({ day, ...rest }) => day === null ? [] : [{ ...rest, day }]);
  const { day: _day, closed: _closed, ...total } = rows.at(-1)!;
  return { project_id, from, to, days, total };
}

/**
 * Sums up the days of each project that has usage, in the order of the names of silos, tenants and projects.
 * @param after if it is given, also null, the projects are in the order of their ids, and begin after this id
 */
export async function listProjectTotals(
  db: Db,
  { from, to }: Range,
  { rows, after }: { readonly rows: number; readonly after?: string | null },
): Promise<ProjectTotal[]> {
  const order = after === undefined
    ? sql`s.name nulls last, t.name nulls last, u.tenant_id, p.name nulls last, u.project_id`
    : sql`u.project_id, u.tenant_id`;
  const found = await sql<ProjectTotal>`
    select s.name as silo, u.tenant_id, t.name as tenant, u.project_id, p.name as project, ${AMOUNTS}
      from usage_between(${from}, ${to}) u left join tenant t on t.id = u.tenant_id
                                           left join silo s on s.id = t.silo_id
                                           left join project p on p.id = u.project_id
     where ${after ?? null}::uuid is null or u.project_id > ${after ?? null}::uuid
     group by s.name, u.tenant_id, t.name, u.project_id, p.name
     order by ${order} limit ${rows}`.execute(db);
  return found.rows;
}

/** Returns whether this day and all earlier days are closed. */
export async function isClosed(db: Db, day: string): Promise<SiteUsage["closed"]> {
  const { rows } = await sql<{ closed: boolean }>`
    select day >= ${day}::date as closed from usage_closed`.execute(db);
  return rows[0]!.closed;
}
