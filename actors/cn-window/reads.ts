// Queries for a window of the list of nodes (offset and limit), and for counts over the fleet.
import { type Kysely, sql } from "kysely";
import type { CnRole, CnState } from "../../src/contract/enums.ts";
import type { LabelFilter } from "../../src/contract/labels.ts";
import { CN_LIVE_S } from "../../src/contract/limits.ts";
import type { FleetSummary, NodeRow, NodeWindow } from "../../src/contract/node-window.ts";
import type { Database } from "../../src/db/tables.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { hasLabels } from "../record/reads.ts";

type Db = Kysely<Database>;

/**
 * The columns by which operators can sort the list of nodes. A minus sign before the column sorts in descending order.
 */
export const NODE_SORTS = [
  "hostname",
  "state",
  "role",
  "admin_ip",
  "serial",
  "cpu_threads",
  "ram_mb",
  "instances",
  "last_seen",
  "registered_at",
  "problem",
] as const;

export type NodeWindowQuery = {
  /** Text that must be in the hostname, the UUID, the serial number, the address or a MAC. */
  readonly q?: string;
  readonly state?: CnState;
  readonly role?: CnRole;
  readonly live?: boolean;
  readonly labels?: LabelFilter;
  readonly sort: typeof NODE_SORTS[number];
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number;
};

const LIVE = sql<boolean>`coalesce(s.last_seen >= (select berth_now()) - make_interval(secs => ${CN_LIVE_S}), false)`;
/** The most urgent problem of a node, or null. */
const PROBLEM = sql<string | null>`case when c.conflict is not null then 'identity conflict'
  when c.last_setup_error is not null then 'setup failed'
  when c.state = 'approved' and not ${LIVE} then 'not seen lately' end`;
const wholeOf = (member: string) =>
  sql<number | null>`case when c.sysinfo->>${sql.lit(member)} ~ '^[0-9]{1,9}$' then (c.sysinfo->>${
    sql.lit(member)
  })::int end`;
const NODE_COLUMNS = {
  hostname: sql<string>`c.hostname`,
  state: sql<CnState>`c.state`,
  role: sql<CnRole>`c.role`,
  admin_ip: sql<string | null>`c.admin_ip`,
  serial: sql<string | null>`c.serial`,
  cpu_threads: wholeOf("CPU Count"),
  ram_mb: wholeOf("MiB of Memory"),
  instances: sql<number>`(select count(*)::int from instance i where i.host_cn_uuid = c.server_uuid)`,
  last_seen: sql<Date | null>`s.last_seen`,
  registered_at: sql<Date>`c.registered_at`,
  problem: PROBLEM,
} satisfies Record<typeof NODE_SORTS[number], unknown>;

/** Reads one window of the nodes that match the filter, and the number of all nodes that match. */
export async function listNodeWindow(db: Db, query: NodeWindowQuery): Promise<NodeWindow> {
  const { q, state, role, live, labels, sort, descending, offset, limit } = query;
  const like = q === undefined ? null : `%${q.toLowerCase().replace(/[\\%_]/g, "\\$&")}%`;
  const { rows } = await sql<NodeListed & { total: number }>`
    with matching as (
      select c.server_uuid, count(*) over ()::int as total, ${NODE_COLUMNS[sort]} as sorted
        from cn c left join cn_signal s using (server_uuid) left join cn_placement p using (server_uuid)
       where ${labels === undefined ? sql`true` : hasLabels(sql`coalesce(p.labels, '{}')`, labels)}
         and (${state ?? null}::text is null or c.state = ${state ?? null})
         and (${role ?? null}::text is null or c.role = ${role ?? null})
         and (${live ?? null}::boolean is null or ${LIVE} = ${live ?? null})
         and (${like}::text is null or lower(c.hostname) like ${like} or c.server_uuid::text like ${like}
              or lower(c.serial) like ${like} or host(c.admin_ip) like ${like}
              or array_to_string(c.macs, ' ') like ${like})
       order by sorted ${sql.raw(descending ? "desc" : "asc")} nulls last, c.server_uuid
      offset ${offset} limit ${limit})
    select c.server_uuid, c.hostname, c.state, c.role, ${LIVE} as live, host(c.admin_ip) as admin_ip, c.serial,
           c.sysinfo->>'Product' as model, ${NODE_COLUMNS.cpu_threads} as cpu_threads, ${NODE_COLUMNS.ram_mb} as ram_mb,
           ${NODE_COLUMNS.instances} as instances, s.last_seen, c.registered_at, ${PROBLEM} as problem,
           coalesce(p.labels, '{}') as labels, m.total
      from matching m join cn c using (server_uuid) left join cn_signal s using (server_uuid)
           left join cn_placement p using (server_uuid)
     order by m.sorted ${sql.raw(descending ? "desc" : "asc")} nulls last, c.server_uuid`.execute(db);
  return {
    items: rows.map(({ total: _, last_seen, registered_at, ...row }) => ({
      ...row,
      last_seen: last_seen && toRfc3339(last_seen),
      registered_at: toRfc3339(registered_at),
    })),
    // Each row contains the total. A window after the last row has no rows, so a second query reads the total.
    total: rows[0]?.total ?? (offset === 0 ? 0 : (await listNodeWindow(db, { ...query, offset: 0, limit: 1 })).total),
  };
}

type NodeListed = Omit<NodeRow, "last_seen" | "registered_at"> & {
  readonly last_seen: Date | null;
  readonly registered_at: Date;
};

/** Counts nodes, instances, operations, claims, identity conflicts and tenants. */
export async function summarizeFleet(db: Db): Promise<FleetSummary> {
  const { rows } = await sql<FleetSummary>`
    select (select jsonb_build_object('by_state', coalesce(jsonb_object_agg(state, n), '{}'), 'silent', coalesce(sum(silent), 0))
              from (select c.state, count(*) as n, count(*) filter (where c.state = 'approved' and not ${LIVE}) as silent
                      from cn c left join cn_signal s using (server_uuid) group by c.state) per) as nodes,
           (select coalesce(jsonb_object_agg(state, n), '{}') from (select state, count(*) as n from instance group by state) per)
             as instances,
           (select jsonb_build_object('running', count(*) filter (where state in ('running', 'unwinding')),
                                      'stuck', count(*) filter (where state = 'stuck')) from saga
             where state in ('running', 'unwinding', 'stuck')) as operations,
           (select count(*)::int from enrolment_claim where expires_at > (select berth_now())) as claims,
           (select count(*)::int from cn where conflict is not null) as conflicts,
           (select count(*)::int from tenant) as tenants`.execute(db);
  return rows[0]!;
}
