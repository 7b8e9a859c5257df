// Queries for the capacity and the load of nodes, and for the resources that instances reserve on the nodes.
import { type Kysely, sql } from "kysely";
import type { FleetCapacity, FleetLoad, LoadHour, NodeCapacity, NodeLoad } from "../../src/contract/capacity.ts";
import type { Database } from "../../src/db/tables.ts";

type Db = Kysely<Database>;

/** 100 units of cn_usage are one vCPU (docs/instances.md, "Placement"). */
const PLACED = `json_build_object('cpu', coalesce(sum(cpu_units), 0) / 100.0,
  'memory_bytes', ${exactSum("ram_mb", 1_048_576)}, 'disk_bytes', ${exactSum("disk_bytes")},
  'instances', ${exactSum("instances")})`;

/** Returns the capacity of a node, or undefined for an unknown node. */
export async function findNodeCapacity(db: Db, server_uuid: string): Promise<NodeCapacity | undefined> {
  const { rows } = await sql<NodeCapacity>`
    select k.report, ${rfc3339("k.reported_at")} as reported_at,
           (select ${sql.raw(PLACED)} from cn_usage u where u.server_uuid = c.server_uuid) as placed
      from cn c left join cn_capacity k using (server_uuid) where c.server_uuid = ${server_uuid}`.execute(db);
  return rows[0];
}

/** Returns sums over the fleet: of the capacity, of the placed resources and of the quotas. */
export async function sumFleetCapacity(db: Db): Promise<FleetCapacity> {
  const { rows } = await sql<FleetCapacity>`
    with fleet as (
      select k.report from cn c left join cn_capacity k using (server_uuid) where c.state = 'approved')
    select (select json_build_object('approved', count(*), 'reporting', count(report)) from fleet) as nodes,
           (select json_build_object(
                     'cpu', ${sql.raw(exactSum("(report->>'cpu_threads_logical')::bigint"))},
                     'memory_bytes', ${sql.raw(exactSum("(report->>'ram_total_mb')::bigint", 1_048_576))},
                     'disk_bytes', ${sql.raw(exactSum("pools.total"))},
                     'disk_free_bytes', ${sql.raw(exactSum("pools.free"))})
              from fleet, lateral (
                select sum((p->>'total_bytes')::bigint) as total, sum((p->>'free_bytes')::bigint) as free
                  from jsonb_array_elements(report->'zpools') p) pools
             where report is not null) as physical,
           (select ${sql.raw(PLACED)} from cn_usage join cn using (server_uuid) where cn.state = 'approved') as placed,
           (select json_build_object(
                     'cpu', ${sql.raw(exactSum("cpu_limit"))},
                     'memory_bytes', ${sql.raw(exactSum("memory_bytes"))},
                     'disk_bytes', ${sql.raw(exactSum("disk_bytes"))},
                     'instances', ${sql.raw(exactSum("instance_limit"))}) from tenant_quota) as quotas,
           (select json_build_object('total', (select count(*) from tenant), 'with_quota', count(*)) from tenant_quota)
             as tenants`.execute(db);
  return rows[0]!;
}

/** Returns the load of a node. The lists are empty for a node without samples. */
export async function readNodeLoad(db: Db, server_uuid: string): Promise<NodeLoad> {
  const [samples, hours] = await Promise.all([
    sql<NodeLoad["samples"][number]>`
      select ${rfc3339("at")} as at, cpu, ram_used from cn_load_sample s where server_uuid = ${server_uuid}
       order by s.at`.execute(db),
    sql<LoadHour>`
      select ${rfc3339("h.hour")} as hour, ${MEAN} as cpu_mean, cpu_max
        from cn_load_hour h, ${COUNTED} where server_uuid = ${server_uuid} order by h.hour`.execute(db),
  ]);
  return { samples: samples.rows, hours: hours.rows };
}

/**
 * Returns the load of all nodes by hour. Computes the current hour, and each earlier hour that cn_load_fleet does not
 * have yet (migrations/functions/load_fleet.sql).
 */
export async function readFleetLoad(db: Db): Promise<FleetLoad> {
  const { rows } = await sql<FleetLoad["hours"][number]>`
    select ${rfc3339("x.hour")} as hour, cpu_mean, cpu_max, nodes
      from (select hour, cpu_mean, cpu_max, nodes from cn_load_fleet
            union all
            select g.hour, fleet.*
              from generate_series(date_trunc('hour', berth_now(), 'UTC') - interval '7 days',
                                   date_trunc('hour', berth_now(), 'UTC'), interval '1 hour') g(hour),
                   lateral (
                     select round(avg(${MEAN})::numeric, 4)::float8, max(cpu_max), count(*)::int
                       from cn_load_hour h, ${COUNTED} where h.hour = g.hour having count(*) > 0) fleet
             where not exists (select from cn_load_fleet f where f.hour = g.hour)) x
     order by x.hour`.execute(db);
  return { hours: rows };
}

/**
 * The sums for the mean load of an hour. cpu_counts has the number of samples in each of 20 equal ranges. Each sample
 * counts as the middle of its range.
 */
const COUNTED = sql`lateral (
  select sum(n) as total, sum(n * (i - 0.5) / 20) as weighted from unnest(h.cpu_counts) with ordinality c(n, i)) counted`;
const MEAN = sql`round((counted.weighted / nullif(counted.total, 0))::numeric, 4)::float8`;

/**
 * Returns SQL for a sum that is limited to the greatest safe JavaScript integer. A single value in a quota or in a
 * node's report may already be that large, so a sum can be larger.
 */
function exactSum(amount: string, unit = 1): string {
  return `least(coalesce(sum(${amount}), 0) * ${unit}, ${Number.MAX_SAFE_INTEGER})::bigint`;
}

function rfc3339(column: string) {
  return sql.raw(`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);
}
