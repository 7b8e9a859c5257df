// Fills the database of a control plane with as many rows as after years of use: nodes, routes, instances with NICs and
// disks, ended operations and jobs, transitions, and idempotency claims. The constraints are active during the
// insertion, and the doctor's invariants hold at the end.
import { SUBNET_ADDRESSES_KEPT } from "../../src/contract/limits.ts";
import { type Connection, openClient } from "../../src/db/pool.ts";

export type AgeSize = {
  /**
   * The number of ended operations, and also of ended jobs and of idempotency claims. Every operation and every job
   * also has a transition.
   */
  readonly log_rows: number;
  readonly instances: number;
  readonly routes: number;
  readonly nodes: number;
};

export type AgePlaces = {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly vpc_id: string;
  readonly subnet_id: string;
  readonly image_id: string;
  readonly route_table_id: string;
  /** A node that joined through the API. The other nodes are copies of this node. */
  readonly server_uuid: string;
};

/** The statement timeout of the insertions. A million rows take longer than the statement timeout of Berth's server. */
const FILL_LIMIT_MS = 1_800_000;
/** The number of rows in the first insert of each kind. Each further insert has twice as many rows, up to ROWS_EACH. */
const FIRST_ROWS = 1_000;
const ROWS_EACH = 100_000;
/**
 * SQL for the creation time of the filled rows. The rows are younger than the default retention times of operations and
 * of the log.
 */
const AGED = "(berth_now() - interval '20 days')";
/** SQL for the creation time of the filled claims of idempotency keys. A claim is kept for a day. */
const AGED_CLAIM = "(berth_now() - interval '12 hours')";
const MEMORY_MB = 1_024;
const DISK_BYTES = 2 ** 30;
/** The first address offset of the filled NICs. It is above the addresses that the subnet reserves. */
const FIRST_OFFSET = 1_000;

/**
 * Returns the sizes for this number of rows in the logs: an instance and a route for every 10 rows, a node for every
 * 100.
 */
export function sizeOf(rows: number): AgeSize {
  const live = Math.ceil(rows / 10);
  return { log_rows: rows, instances: live, routes: live, nodes: Math.ceil(rows / 100) };
}

/** Inserts the rows and vacuums the database. `note` gets a line for each kind of rows. */
export async function fillWithAge(
  url: string,
  places: AgePlaces,
  { size, note }: { readonly size: AgeSize; readonly note: (line: string) => void },
): Promise<void> {
  const client = await openClient({ url, statementLimit_ms: FILL_LIMIT_MS, lockLimit_ms: FILL_LIMIT_MS });
  const fill = async (what: string, rows: number, statements: readonly string[]) => {
    const started_ms = performance.now();
    // The first inserts are small, and ANALYZE runs before each further insert, so that the triggers do not use plans
    // for empty tables.
    for (let from = 0, each = FIRST_ROWS; from < rows; from += each, each = Math.min(2 * each, ROWS_EACH)) {
      const to = Math.min(from + each, rows) - 1;
      if (from > 0) await client.query("analyze");
      for (const sql of statements) await client.query(withValues(sql, { ...places, from, to }));
    }
    note(`${rows} ${what}: ${((performance.now() - started_ms) / 1_000).toFixed(1)} s`);
  };
  try {
    await fill("more nodes", size.nodes - 1, NODES);
    await fill("instances", size.instances, INSTANCES);
    await fill("routes", size.routes, ROUTES);
    await fill("operations and jobs", size.log_rows, OPERATIONS);
    await fill("idempotency claims", size.log_rows, CLAIMS);
    await countUses(client, places, size);
    await client.query("vacuum (analyze)");
  } finally {
    await client.end();
  }
}

/** Replaces each `:name` by the value with this name. */
function withValues(sql: string, values: Readonly<Record<string, string | number>>): string {
  return sql.replaceAll(/(?<!:):([a-z_]+)\b/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the fill has no value ${name}`);
    return typeof value === "number" ? String(value) : `'${value}'::uuid`;
  });
}

/** Returns SQL that inserts copies of the row `o` and replaces some of their fields. */
const copies = (table: string, from: string, fields: string) =>
  `insert into ${table} select r.* from ${from}
     cross join lateral jsonb_populate_record(null::${table}, to_jsonb(o) || jsonb_build_object(${fields})) r`;

const LOG = "insert into transition (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at)";

const NODES = [
  "drop table if exists made",
  `create temp table made as
     select n, gen_random_uuid() as server_uuid, gen_random_uuid() as key_id, gen_random_uuid() as incarnation,
            gen_random_uuid() as key_incarnation from generate_series(:from, :to) n`,
  copies(
    "api_key",
    "made m join cn on cn.server_uuid = :server_uuid join api_key o on o.id = cn.bound_api_key_id",
    `'id', m.key_id, 'incarnation', m.key_incarnation, 'version', 1, 'bound_to_cn', m.server_uuid,
     'lookup', lpad(m.n::text, 12, 'n'), 'secret_sha256', encode(sha256(m.key_id::text::bytea), 'hex')`,
  ),
  copies(
    "cn",
    "made m join cn o on o.server_uuid = :server_uuid",
    `'server_uuid', m.server_uuid, 'incarnation', m.incarnation, 'hostname', 'node-' || m.n,
     'bound_api_key_id', m.key_id, 'poll_token_sha256', null, 'registration_id', m.incarnation, 'registered_at', o.registered_at + m.n * interval '1 ms'`,
  ),
  copies("cn_signal", "made m join cn_signal o on o.server_uuid = :server_uuid", "'server_uuid', m.server_uuid"),
  // The heartbeat is in the future, so that all nodes stay live during the long measurement.
  "update cn_signal set last_seen = berth_now() + interval '1 day'",
  copies("cn_capacity", "made m join cn_capacity o on o.server_uuid = :server_uuid", "'server_uuid', m.server_uuid"),
  `with steps as (
     select m.n, m.server_uuid, m.incarnation, t.seq, t.event, t.from_state, t.to_state, gen_random_uuid() as msg_id
       from made m join transition t on t.actor_kind = 'cn' and t.actor_id = (:server_uuid)::text),
   started as (${LOG}
     select 'saga', gen_random_uuid()::text, gen_random_uuid(), 1, 'start', 'absent', 'running', msg_id, ${AGED}
       from steps where event = 'approve')
   ${LOG} select 'cn', server_uuid::text, incarnation, seq, event, from_state, to_state, msg_id, ${AGED}
     from steps order by n, seq`,
  `${LOG} select 'api-key', key_id::text, key_incarnation, 1, 'create', 'absent', 'live', gen_random_uuid(), ${AGED}
     from made`,
];

const INSTANCES = [
  "drop table if exists made",
  `create temp table made as
     select n, uuidv7() as id, h.server_uuid from generate_series(:from, :to) n
       join (select server_uuid, row_number() over (order by server_uuid) - 1 as k from cn) h
         on h.k = n % (select count(*) from cn)`,
  `insert into instance (id, incarnation, version, state, host_cn_uuid, tenant_id, project_id, name, description, brand,
      cpu, memory_bytes, image_id, primary_subnet_id, ssh_key_ids, created_at, updated_at)
    select id, id, 1, case when n % 100 = 0 then 'stopped' else 'running' end, server_uuid, :tenant_id, :project_id,
           'vm-' || n, '', 'kvm', 1, ${MEMORY_MB} * 1048576, :image_id, :subnet_id, '{}', ${AGED}, ${AGED}
      from made order by n`,
  `insert into disk (id, tenant_id, project_id, instance_id, name, description, kind, size_bytes, applied_bytes,
      source_image_id, created_at)
    select uuidv7(), :tenant_id, :project_id, id, 'boot', '', 'boot', ${DISK_BYTES}, ${DISK_BYTES}, :image_id, ${AGED}
      from made order by n`,
  `insert into nic (id, tenant_id, project_id, instance_id, vpc_id, subnet_id, ordinal, name, primary_ipv4, created_at)
    select uuidv7(), :tenant_id, :project_id, id, :vpc_id, :subnet_id, 0, 'nic0',
           '10.0.0.0'::inet + ${FIRST_OFFSET} + n, ${AGED} from made order by n`,
  `${LOG} select 'instance', id::text, id, 1, 'create', 'absent', case when n % 100 = 0 then 'stopped' else 'running' end,
                 gen_random_uuid(), ${AGED} from made order by n`,
];

const ROUTES = [
  "drop table if exists made",
  "create temp table made as select n, uuidv7() as id from generate_series(:from, :to) n",
  `insert into route (id, incarnation, version, state, tenant_id, project_id, vpc_id, route_table_id, name, description,
      destination, target_kind, created_at)
    select id, id, 1, 'live', :tenant_id, :project_id, :vpc_id, :route_table_id, 'route-' || n, '',
           set_masklen('172.0.0.0'::inet + n * 16, 28), 'blackhole', ${AGED} from made order by n`,
  `${LOG} select 'route', id::text, id, 1, 'create', 'absent', 'live', gen_random_uuid(), ${AGED} from made order by n`,
];

/** SQL that inserts operations on instances, and the jobs of these operations on the nodes of the instances. */
const OPERATIONS = [
  "drop table if exists made",
  `create temp table made as
     select n, uuidv7() as id, uuidv7() as job_id, i.id as instance_id, i.host_cn_uuid as cn
       from generate_series(:from, :to) n
       join (select id, host_cn_uuid, row_number() over (order by id) - 1 as k from instance) i
         on i.k = n % (select count(*) from instance)`,
  `insert into saga (id, incarnation, version, state, saga, params, refs, outputs, steps, early, created_at, done_at)
    select id, id, 1, 'succeeded', 'instance-restart', jsonb_build_object('instance_id', instance_id),
           jsonb_build_array(jsonb_build_object('scope', 'instance', 'id', instance_id)), '{}', '{}', '{}', ${AGED},
           ${AGED} from made order by n`,
  `insert into job (id, incarnation, version, state, kind, target_cn, payload, saga_id, created_at, claimed_by,
      claimed_at, lease_until, lease_s, result, completed_at)
    select job_id, job_id, 1, 'completed', 'restart', cn, jsonb_build_object('instance_id', instance_id), id, ${AGED},
           cn::text, ${AGED}, ${AGED}, 600, '{}', ${AGED} from made order by n`,
  `insert into transition (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at, audit)
    select 'saga', id::text, id, 1, 'start', 'absent', 'succeeded', gen_random_uuid(), ${AGED},
           jsonb_build_object('actor', jsonb_build_object('kind', 'system'), 'action', 'instance_restart',
             'resource', 'Instance::"' || instance_id || '"', 'request_id', gen_random_uuid(), 'decision', 'allow',
             'outcome', jsonb_build_object('kind', 'success', 'resource', null),
             'payload', jsonb_build_object('instance_id', instance_id, 'tenant_id', :tenant_id))
      from made order by n`,
  `${LOG} select 'job', job_id::text, job_id, 1, 'complete', 'absent', 'completed', gen_random_uuid(), ${AGED}
     from made order by n`,
];

const CLAIMS = [
  `insert into idempotency (principal, method, path, key, body_sha256, msg_id, created_at)
    select 'key:' || n % 100, 'POST', '/v1/instances', gen_random_uuid()::text, repeat('0', 64), uuidv7(), ${AGED_CLAIM}
      from generate_series(:from, :to) n`,
];

/** Sets the counters: the use of the nodes, the project and the tenant, and the free addresses of the subnet. */
async function countUses(client: Connection, places: AgePlaces, { instances }: AgeSize): Promise<void> {
  const statements = [
    `insert into cn_usage (server_uuid, cpu_units, ram_mb, disk_bytes, instances)
       select host_cn_uuid, 0, count(*) * ${MEMORY_MB}, count(*) * ${DISK_BYTES}, count(*) from instance group by 1
       on conflict (server_uuid) do update set ram_mb = excluded.ram_mb, disk_bytes = excluded.disk_bytes,
          instances = excluded.instances`,
    "update cn_usage set cpu_units = instances * 100",
    `update project_usage set cpu = ${instances}, memory_bytes = ${instances * MEMORY_MB * 2 ** 20},
       disk_bytes = ${instances * DISK_BYTES}, instances = ${instances} where project_id = :project_id`,
    `update tenant_usage t set cpu = p.cpu, memory_bytes = p.memory_bytes, disk_bytes = p.disk_bytes,
       instances = p.instances from project_usage p where t.tenant_id = :tenant_id and p.project_id = :project_id`,
    `update pool_range set low = ${FIRST_OFFSET + instances} where pool_id = 'subnet:' || (:subnet_id)::text || ':v4'`,
    `insert into pool_range (pool_id, low, high)
       select 'subnet:' || (:subnet_id)::text || ':v4', ${SUBNET_ADDRESSES_KEPT}, ${FIRST_OFFSET - 1}`,
  ];
  for (const sql of statements) await client.query(withValues(sql, places));
}
