-- Returns the input of placement: each approved node with its capacity report, its load, the resources in use and the
-- number of its instances by tenant. The column `now` is the argument `at`, or the database's clock if `at` is null.
-- Without approved nodes it returns one row, whose node columns are null. The first row has the silo of each tenant
-- with instances; `placement` is null for a node without rules. This is a function because planning the query takes
-- longer than running it: PL/pgSQL keeps the plan. The function returns most values in columns of their own, and the
-- caller builds objects from them. With 10,000 nodes, the function would need most of its time to build these objects
-- itself.
create or replace function nodes_to_place_2(at timestamptz default null)
returns table (
  now timestamptz, server_uuid uuid, hostname text, state text, role text, last_seen timestamptz, placement json,
  traits jsonb, capacity jsonb, cpu_units bigint, ram_mb bigint, disk_bytes bigint, instances bigint,
  unmade_bytes bigint, neighbours json, silos json, summary jsonb, refreshed_at timestamptz
) language plpgsql volatile
-- One generic plan serves every call. JIT is off, because compiling the plan takes longer than running it.
set plan_cache_mode = force_generic_plan
set jit = off
set max_parallel_workers_per_gather = 0 as $$
#variable_conflict use_column
begin
  return query
    with clock as (select coalesce(at, berth_now()) as now),
    beside as (
      select u.server_uuid, json_object_agg(u.tenant_id, u.instances) as them from cn_tenant_usage u group by 1),
    -- A disk is incomplete until its node has created it in full size. Few disks are incomplete, but PostgreSQL expects
    -- that a third of all disks are incomplete. So the query looks up the instance of each incomplete disk separately.
    -- An instance that is being evacuated is on its new node already, but its applied_bytes are from the dead node. So
    -- the second part of the union counts the applied_bytes as incomplete, too.
    unmade as (
      select each.host_cn_uuid, sum(each.bytes)::bigint as bytes
        from (select (select host_cn_uuid from instance where id = d.instance_id) as host_cn_uuid,
                     d.size_bytes - coalesce(d.applied_bytes, 0) as bytes
                from disk d where d.applied_bytes is null or d.applied_bytes < d.size_bytes
               union all
              select i.host_cn_uuid, least(coalesce(d.applied_bytes, 0), d.size_bytes)
                from migration g join instance i on i.id = g.instance_id and i.host_cn_uuid = g.target_cn
                join disk d on d.instance_id = i.id
               where g.instance_id is not null and g.state <> all (array['completed', 'failed', 'aborted'])) each
       group by 1)
    select clock.now, c.server_uuid, c.hostname, c.state, c.role, s.last_seen, to_json(p), coalesce(p.traits, '{}'),
           k.report, coalesce(u.cpu_units, 0), coalesce(u.ram_mb, 0), coalesce(u.disk_bytes, 0),
           coalesce(u.instances, 0), coalesce(m.bytes, 0), coalesce(b.them, '{}'),
           case when row_number() over () = 1 then (
             select json_object_agg(t.id, t.silo_id) from tenant t
              where t.id in (select tenant_id from cn_tenant_usage)) end,
           l.summary, l.last_refreshed_at
      from clock left join cn c on c.state = 'approved'
      left join cn_signal s on s.server_uuid = c.server_uuid
      left join cn_placement p on p.server_uuid = c.server_uuid
      left join cn_capacity k on k.server_uuid = c.server_uuid
      left join cn_usage u on u.server_uuid = c.server_uuid
      left join cn_load_summary l on l.server_uuid = c.server_uuid
      left join beside b on b.server_uuid = c.server_uuid
      left join unmade m on m.host_cn_uuid = c.server_uuid;
end $$;
