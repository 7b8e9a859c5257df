// Compares the database before and after an operation, and finds contradictions between its tables.
import { changedRows, type Dump } from "../support/dump.ts";

/** Tables that the comparisons ignore: sagas, jobs, logs and the clock. */
export const RECORDS = [
  ...["saga_gate", "saga", "job", "transition", "seen", "outbox", "audit_event", "audit_head", "lab_clock"],
  // The generation of a VPC counts changes, so it also grows when an operation is undone.
  "vpc_change",
  // A migration that was undone stays in the list of migrations.
  "migration",
  // The time for which a resource existed is billed, even if its creation was undone.
  "usage_span",
  // The bytes of an upload may still be stored after the upload.
  "stored_upload",
];

/** The IPv4 block of a subnet, and the number of addresses in it that NICs can get. */
export const WIDE = { block: "10.0.64.0/18", addresses: 2 ** 14 - 3 } as const;

/** Lists the differences between two dumps, except in versions, update times and generations. */
export function differences(before: Dump, after: Dump): string[] {
  const settled = (dump: Dump) =>
    new Map(
      [...dump].map(([table, rows]) => [
        table,
        rows.map((each) =>
          each.replace(/"version":\d+,/, "").replace(/"updated_at":"[^"]*"/, "").replace(/"generation":\d+/, "")
        ),
      ]),
    );
  return changedRows(settled(before), settled(after));
}

/** Lists counters, addresses and references that contradict each other; the query needs the subnet WIDE. */
export const CONTRADICTIONS = `
  with placed as (
    select i.host_cn_uuid, i.project_id, i.id, i.cpu, i.memory_bytes,
           (select coalesce(sum(size_bytes), 0) from disk where instance_id = i.id) as disk_bytes from instance i)
  select 'room' as what, u.server_uuid::text as of from cn_usage u
   where (u.cpu_units, u.ram_mb, u.disk_bytes, u.instances) is distinct from (
     select (coalesce(sum(cpu), 0)::bigint * 100, coalesce(sum(memory_bytes / 1048576), 0)::bigint,
             coalesce(sum(disk_bytes), 0)::bigint, count(*)) from placed where host_cn_uuid = u.server_uuid)
  union all
  select 'quota', p.project_id::text from project_usage p
   where (p.cpu, p.memory_bytes, p.disk_bytes, p.instances) is distinct from (
     select (coalesce(sum(cpu), 0)::bigint, coalesce(sum(memory_bytes), 0)::bigint,
             coalesce(sum(disk_bytes), 0)::bigint, count(*)) from placed where project_id = p.project_id)
  union all
  select 'address taken twice or free', n.id::text from nic n join pool p on p.id = 'subnet:' || n.subnet_id || ':v4'
   where exists (select from pool_range r where r.pool_id = p.id and n.primary_ipv4 - p.base between r.low and r.high)
  union all
  select 'address lost', p.id from pool p
   where p.base = '10.0.64.0' and (select coalesce(sum(high - low + 1), 0) from pool_range where pool_id = p.id)
       + (select count(*) from nic where 'subnet:' || subnet_id || ':v4' = p.id) <> ${WIDE.addresses}
  union all
  select 'operation at rest', i.id::text from instance i join saga s on s.id = i.operation_id
   where s.state in ('succeeded', 'unwound')
  union all
  select 'operation at rest', f.id::text from floating_ip f join saga s on s.id = f.operation_id
   where s.state in ('succeeded', 'unwound')
  union all
  select 'binding that its instance does not know', f.id::text from floating_ip f
   where f.attached_instance_id is not null
     and not exists (select from instance i where i.id = f.attached_instance_id and f.id = any(i.floating_ip_ids))
  union all
  select 'binding that only the instance knows', i.id::text from instance i, unnest(i.floating_ip_ids) known
   where not exists (select from floating_ip f
                      where f.id = known and i.id in (f.attached_instance_id, f.prior_instance_id))`;
