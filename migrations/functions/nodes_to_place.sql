-- Berth does not call this function any more; a later migration can drop it. Returns the input of placement: each
-- approved node with its capacity report, its load, the resources in use and the number of its instances per tenant, at
-- the time `at` (default: now). Without approved nodes it returns one row, whose node columns are null. This is a
-- function because planning the query takes longer than running it: PL/pgSQL keeps the plan.
create or replace function nodes_to_place(at timestamptz default null)
returns table (
  now timestamptz, server_uuid uuid, hostname text, state text, role text, last_seen timestamptz, placement jsonb,
  traits jsonb, capacity jsonb, cpu_units bigint, ram_mb bigint, disk_bytes bigint, instances bigint,
  unmade_bytes bigint, neighbours jsonb, summary jsonb, refreshed_at timestamptz
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
      select u.server_uuid, jsonb_agg(jsonb_build_object('tenant_id', u.tenant_id, 'silo_id', t.silo_id,
                                                         'count', u.instances)) as them
        from cn_tenant_usage u join tenant t on t.id = u.tenant_id group by 1),
    -- A disk is incomplete until its node has created it in full size. Few disks are incomplete, but PostgreSQL expects
    -- that a third of all disks are incomplete. So the query looks up the instance of each such disk by itself.
    unmade as (
      select each.host_cn_uuid, sum(each.bytes)::bigint as bytes
        from (select (select host_cn_uuid from instance where id = d.instance_id) as host_cn_uuid,
                     d.size_bytes - coalesce(d.applied_bytes, 0) as bytes
                from disk d where d.applied_bytes is null or d.applied_bytes < d.size_bytes) each
       group by 1)
    select clock.now, c.server_uuid, c.hostname, c.state, c.role, c.last_seen, c.placement, c.traits,
           k.report, coalesce(u.cpu_units, 0), coalesce(u.ram_mb, 0), coalesce(u.disk_bytes, 0),
           coalesce(u.instances, 0), coalesce(m.bytes, 0), coalesce(b.them, '[]'), l.summary, l.last_refreshed_at
      from clock left join (
        select c.server_uuid, c.hostname, c.state, c.role, c.last_seen, c.placement, c.traits
          from cn_loaded c where c.state = 'approved') c on true
      left join cn_capacity k on k.server_uuid = c.server_uuid
      left join cn_usage u on u.server_uuid = c.server_uuid
      left join cn_load_summary l on l.server_uuid = c.server_uuid
      left join beside b on b.server_uuid = c.server_uuid
      left join unmade m on m.host_cn_uuid = c.server_uuid;
end $$;
