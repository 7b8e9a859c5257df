// Checks the database after all creates, when no operation is in flight. Each row of a query is a violation.
import type { DbClient } from "../../src/db/pool.ts";

export const CREATE_RULES: Readonly<Record<string, string>> = {
  "no address is assigned twice": `
    select vpc_id, a.address, count(*) from nic, unnest(array[primary_ipv4, primary_ipv6]) a(address)
     where a.address is not null group by 1, 2 having count(*) > 1`,
  "no MAC is assigned twice": "select mac, count(*) from nic group by 1 having count(*) > 1",
  "an assigned address is not free": `
    select n.id, n.primary_ipv4, r.low, r.high from nic n
      join pool p on p.id = 'subnet:' || n.subnet_id || ':v4' join pool_range r on r.pool_id = p.id
     where n.primary_ipv4 - p.base between r.low and r.high`,
  "no node exceeds its room": `
    select c.server_uuid, count(i.id) as instances, sum(i.memory_bytes) / 1048576 as mb, c.report->>'ram_total_mb' as has
      from cn_capacity c join instance i on i.host_cn_uuid = c.server_uuid group by c.server_uuid, c.report
    having sum(i.memory_bytes) / 1048576 > (c.report->>'ram_total_mb')::bigint
        or sum(i.cpu) > 4 * (c.report->>'cpu_threads_logical')::bigint`,
  "a node's counters equal the instances on it": `
    select * from (
      select n.server_uuid, coalesce(u.cpu_units, 0) as cpu_units, coalesce(u.ram_mb, 0) as ram_mb,
             coalesce(u.disk_bytes, 0) as disk_bytes, coalesce(u.instances, 0) as instances,
             (select coalesce(sum(cpu), 0) * 100 from instance where host_cn_uuid = n.server_uuid) as their_cpu_units,
             (select coalesce(sum(memory_bytes / 1048576), 0) from instance where host_cn_uuid = n.server_uuid) as their_mb,
             (select coalesce(sum(d.size_bytes), 0) from disk d join instance i on i.id = d.instance_id
               where i.host_cn_uuid = n.server_uuid) as their_bytes,
             (select count(*) from instance where host_cn_uuid = n.server_uuid) as they
        from cn n left join cn_usage u using (server_uuid)) each
     where (cpu_units, ram_mb, disk_bytes, instances) <> (their_cpu_units, their_mb, their_bytes, they)`,
  "a project's counters equal its instances": `
    select * from (
      select p.project_id, p.instances, p.cpu, p.memory_bytes, p.disk_bytes,
             (select count(*) from instance i where i.project_id = p.project_id) as they,
             (select coalesce(sum(cpu), 0) from instance i where i.project_id = p.project_id) as their_cpu,
             (select coalesce(sum(i.memory_bytes), 0) from instance i where i.project_id = p.project_id) as their_memory,
             (select coalesce(sum(d.size_bytes), 0) from disk d where d.project_id = p.project_id) as their_disk
        from project_usage p) each
     where (instances, cpu, memory_bytes, disk_bytes) <> (they, their_cpu, their_memory, their_disk)`,
  "every instance runs without an operation in flight": `
    select id, name, state, operation_id from instance where state <> 'running' or operation_id is not null`,
  "every instance has one NIC with an address and one disk": `
    select i.id, (select count(*) from nic where instance_id = i.id and primary_ipv4 is not null) as nics,
           (select count(*) from disk where instance_id = i.id) as disks from instance i
     where (select count(*) from nic where instance_id = i.id and primary_ipv4 is not null) <> 1
        or (select count(*) from disk where instance_id = i.id) <> 1`,
  "no NIC, disk, user data or job of a missing instance is left": `
    select 'nic' as what, id::text from nic where instance_id not in (select id from instance)
    union all select 'disk', id::text from disk where instance_id not in (select id from instance)
    union all select 'user data', instance_id::text from sealed_user_data
     where instance_id not in (select id from instance)
    union all select 'job', id::text from job
     where payload ? 'instance_id' and (payload->>'instance_id')::uuid not in (select id from instance)
       and (tombstone or state in ('pending', 'in_progress'))`,
  "every operation has ended, and none is stuck": `
    select id, saga, state, step, stuck_reason from saga where state not in ('succeeded', 'unwound')`,
  "every instance has one operation that created it": `
    select i.id, count(s.id) from instance i
      left join saga s on s.saga = 'instance-create' and s.params->>'instance_id' = i.id::text and s.state = 'succeeded'
     group by i.id having count(s.id) <> 1`,
  "every operation that succeeded left its instance": `
    select id, params->>'instance_id' as instance_id from saga
     where saga = 'instance-create' and state = 'succeeded'
       and params->>'instance_id' not in (select id::text from instance)`,
  "every job has ended": `
    select id, kind, state, reason from job where state in ('pending', 'in_progress') or tombstone`,
  "the outbox is empty": "select id, to_kind, to_id from outbox",
};

export async function brokenRules(db: DbClient): Promise<string[]> {
  const found: string[] = [];
  for (const [rule, query] of Object.entries(CREATE_RULES)) {
    const { rows } = await db.query(query);
    found.push(...rows.map((row) => `${rule}: ${JSON.stringify(row)}`));
  }
  return found;
}

/** Counts the free addresses in the pools of subnets. */
export async function freeAddresses(db: DbClient): Promise<number> {
  const { rows: [found] } = await db.query<{ free: string }>(
    "select coalesce(sum(high - low + 1), 0) as free from pool_range where pool_id like 'subnet:%'",
  );
  return Number(found!.free);
}

/** Returns whether no operation is in flight, no job is open and the outbox is empty. */
export async function isAtRest(db: DbClient): Promise<boolean> {
  const { rows: [found] } = await db.query<{ busy: boolean }>(
    `select exists (select from saga where state in ('running', 'unwinding')) or exists (select from outbox)
         or exists (select from job where state in ('pending', 'in_progress') or tombstone) as busy`,
  );
  return !found!.busy;
}
