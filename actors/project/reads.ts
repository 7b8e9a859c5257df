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
 * Sums up the usage in these days of each project that has usage, in the order of the names of silos, tenants and
 * projects.
 */
export async function listProjectTotals(db: Db, { from, to }: Range, rows: number): Promise<ProjectTotal[]> {
  const found = await sql<ProjectTotal>`
    select s.name as silo, u.tenant_id, t.name as tenant, u.project_id, p.name as project, ${AMOUNTS}
      from usage_between(${from}, ${to}) u left join tenant t on t.id = u.tenant_id
                                           left join silo s on s.id = t.silo_id
                                           left join project p on p.id = u.project_id
     group by s.name, u.tenant_id, t.name, u.project_id, p.name
     order by s.name nulls last, t.name nulls last, u.tenant_id, p.name nulls last, u.project_id
     limit ${rows}`.execute(db);
  return found.rows;
}

const FIRST_ID = "00000000-0000-0000-0000-000000000000";

/**
 * Sums up the usage in these days of the next projects after the id `after`, in the order of their ids. Finds the
 * projects one after another by the indexes until the page is full, and sums up only their rows. So the cost of a page
 * does not grow with the number of later projects. Skips projects without usage in these days one by one: 10,000 of
 * them take 0.2 s. As in usage_between, a closed day has stored sums. The sums of later days are computed from spans
 * and traffic.
 */
export async function pageProjectTotals(
  db: Db,
  { from, to }: Range,
  { rows, after }: { readonly rows: number; readonly after: string | null },
): Promise<ProjectTotal[]> {
  const next = (id: string) =>
    sql.raw(
      `(select least(${
        ["usage_day", "usage_span", "usage_traffic"].map((table) =>
          `(select project_id from ${table} where project_id > ${id} order by project_id limit 1)`
        ).join(", ")
      }))`,
    );
  const found = await sql<ProjectTotal>`
    with recursive range as materialized (
      select day as closed_day, ${from}::date as first_day, ${to}::date as last_day, berth_now() as now,
             greatest(${from}::date, day + 1)::timestamp at time zone 'UTC' as low,
             (least(${to}::date, (berth_now() at time zone 'UTC')::date) + 1)::timestamp at time zone 'UTC' as high
        from usage_closed),
    start (id) as (select ${after ?? FIRST_ID}::uuid),
    ids (id) as (select ${next("start.id")} from start union all select ${
    next("ids.id")
  } from ids where ids.id is not null),
    totals as (
      select ids.id as project_id, sums.* from ids, lateral (
        select u.tenant_id, ${AMOUNTS} from (
          select d.tenant_id, d.vcpu_seconds, d.memory_byte_seconds, d.disk_byte_seconds, d.floating_ip_seconds,
                 d.network_in_bytes, d.network_out_bytes
            from range r, usage_day d
           where d.project_id = ids.id and d.day between r.first_day and least(r.last_day, r.closed_day)
          union all
          select s.tenant_id, s.vcpus * l.seconds, s.memory_bytes * l.seconds, s.disk_bytes * l.seconds,
                 s.floating_ips * l.seconds, 0, 0
            from range r, usage_span s, lateral (
              select extract(epoch from least(coalesce(s.ended_at, r.now), r.high) - greatest(s.began_at, r.low)) as seconds) l
           where s.project_id = ids.id and r.low < r.high and s.began_at < r.high and coalesce(s.ended_at, r.now) > r.low
          union all
          select t.tenant_id, 0, 0, 0, 0, t.network_in_bytes, t.network_out_bytes
            from range r, usage_traffic t
           where t.project_id = ids.id and t.day between greatest(r.first_day, r.closed_day + 1) and r.last_day) u
         group by u.tenant_id) sums
       limit ${rows})
    select s.name as silo, u.tenant_id, t.name as tenant, u.project_id, p.name as project, u.vcpu_hours,
           u.memory_gib_hours, u.disk_gib_hours, u.floating_ip_hours, u.network_in_bytes, u.network_out_bytes
      from totals u left join tenant t on t.id = u.tenant_id
                    left join silo s on s.id = t.silo_id
                    left join project p on p.id = u.project_id
     order by u.project_id, u.tenant_id`.execute(db);
  return found.rows;
}

/** Returns whether this day and all earlier days are closed: their sums are stored and no longer change. */
export async function isClosed(db: Db, day: string): Promise<SiteUsage["closed"]> {
  const { rows } = await sql<{ closed: boolean }>`
    select day >= ${day}::date as closed from usage_closed`.execute(db);
  return rows[0]!.closed;
}
