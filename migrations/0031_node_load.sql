-- The load of the nodes, from their capacity reports, and other data for placement and lists.

-- guard_cn_has_room now also checks the role of the node. A create and a change of the role both hold the lock cn:<id>,
-- so a create sees the latest role.
create or replace function guard_cn_has_room(args jsonb) returns text language plpgsql volatile as $$
declare
  of_cn  constant uuid := (args->>'server_uuid')::uuid;
  wanted record;
  node   record;
  used   cn_usage;
  pool   jsonb;
  room   double precision;
begin
  select coalesce((args->>'cpu_units')::bigint, 0) as cpu_units, coalesce((args->>'ram_mb')::bigint, 0) as ram_mb,
         coalesce((args->>'disk_bytes')::bigint, 0) as disk_bytes into wanted;
  insert into cn_usage (server_uuid) select server_uuid from cn where server_uuid = of_cn on conflict do nothing;
  select * into used from cn_usage where server_uuid = of_cn for update;
  if not found then return 'it is gone'; end if;
  select c.state, c.role, s.last_seen, p.*, k.report into node
    from cn c left join cn_signal s using (server_uuid) left join cn_placement p using (server_uuid)
              left join cn_capacity k using (server_uuid) where c.server_uuid = of_cn;

  if wanted.cpu_units > 0 then
    if node.state <> 'approved' then return format('it is %s', node.state); end if;
    -- Placement requires a heartbeat in the last 60 seconds.
    if node.last_seen is null or node.last_seen < berth_now() - interval '60 seconds' then
      return 'it was not seen lately';
    end if;
    if args ? 'role' and node.role not in (args->>'role', 'both') then
      return format('its role is %s', node.role);
    end if;
    if node.reserved then return 'an operator reserved it'; end if;
    if node.cordoned then return 'it is cordoned'; end if;
    if args ? 'tenant_id' and (node.pinned_tenant_uuid <> (args->>'tenant_id')::uuid
                               or node.pinned_silo_uuid <> (args->>'silo_id')::uuid) then
      return 'it is pinned to somebody else';
    end if;
  end if;

  if node.report is null then return 'it has not reported its capacity'; end if;
  -- The default overprovisioning factors are 4.0 for CPU, 1.0 for RAM and 1.0 for disks.
  room := (node.report->>'cpu_threads_logical')::double precision * 100 * coalesce(node.overprovision_cpu, 4)
          - used.cpu_units;
  if wanted.cpu_units > 0 and room < wanted.cpu_units then
    return format('%s CPU units left, %s wanted', greatest(0, floor(room)), wanted.cpu_units);
  end if;
  room := (node.report->>'ram_total_mb')::double precision * coalesce(node.overprovision_ram, 1) - used.ram_mb;
  if wanted.ram_mb > 0 and room < wanted.ram_mb then
    return format('%s MiB of memory left, %s wanted', greatest(0, floor(room)), wanted.ram_mb);
  end if;
  if wanted.disk_bytes > 0 then
    select p into pool from jsonb_array_elements(node.report->'zpools') p where p->>'name' = 'zones' limit 1;
    if pool is null then return 'it has no pool zones'; end if;
    room := least(
      (pool->>'total_bytes')::double precision * coalesce(node.overprovision_disk, 1) - used.disk_bytes,
      (pool->>'free_bytes')::double precision * coalesce(node.overprovision_disk, 1) - berth_unmade_bytes(of_cn));
    if room < wanted.disk_bytes then
      return format('%s bytes of disk left, %s wanted', greatest(0, floor(room)), wanted.disk_bytes);
    end if;
  end if;
  return 'true';
end $$;

-- NICs are also listed by project.
create index nic_of_project on nic (project_id, id);

-- The load that nodes reported in the last five minutes, as fractions. Null: the node does not know the value.
create table cn_load_sample (
  server_uuid uuid not null references cn (server_uuid) on delete cascade,
  at          timestamptz not null,
  cpu         double precision check (cpu between 0 and 1),
  ram_used    double precision check (ram_used between 0 and 1),
  primary key (server_uuid, at)
);
create index cn_load_sample_age on cn_load_sample (at);

-- The samples of a week, counted by hour. cpu_counts counts the samples in each twentieth of CPU utilization. So a week
-- of a node is only 168 short rows.
create table cn_load_hour (
  server_uuid uuid not null references cn (server_uuid) on delete cascade,
  hour        timestamptz not null,
  cpu_max     double precision not null,
  cpu_counts  int[] not null check (cardinality(cpu_counts) = 20),
  primary key (server_uuid, hour)
);
create index cn_load_hour_age on cn_load_hour (hour);

-- When the values for the last day and the last week were last computed.
alter table cn_load_summary add column long_at timestamptz;

-- One row: the time of the last pass of load_materialize.
create table load_pass (one boolean primary key default true check (one), at timestamptz not null);

-- Returns {cpu_p50_<of>, cpu_p95_<of>, cpu_max_<of>, samples_<of>} of a node's hours since the given time. Percentiles
-- are exact to a twentieth.
create function berth_load_since(of_cn uuid, since timestamptz, of text) returns jsonb language sql stable as $$
  with hours as (select cpu_max, cpu_counts from cn_load_hour where server_uuid = of_cn and hour > since),
  counted as (select i, sum(n) as n from hours, unnest(cpu_counts) with ordinality c(n, i) group by i),
  summed as (select i, n, sum(n) over (order by i) as upto, sum(n) over () as total from counted),
  percentile as (
    select q, round(((i - 1 + (q * total - (upto - n)) / n) / 20)::numeric, 4) as value
      from (values (0.5), (0.95)) asked(q), lateral (
        select * from summed where n > 0 and upto >= q * total order by i limit 1) at)
  select jsonb_build_object(
    'cpu_p50_' || of, (select value from percentile where q = 0.5),
    'cpu_p95_' || of, (select value from percentile where q = 0.95),
    'cpu_max_' || of, (select round(max(cpu_max)::numeric, 4) from hours),
    'samples_' || of, (select coalesce(max(total), 0) from summed)) $$;

-- Makes one pass: stores the last report of each node as a sample, and writes the summaries of all nodes with samples.
-- If several calls come within half an interval, only one of them makes a pass and returns true. A zero in a report
-- means that the node does not know the value.
create function load_materialize(interval_s double precision) returns boolean language plpgsql volatile as $$
declare
  pass_at constant timestamptz := berth_now();
begin
  if not pg_try_advisory_xact_lock(hashtextextended('load-materializer', 0)) then return false; end if;
  insert into load_pass as p values (true, pass_at)
    on conflict (one) do update set at = excluded.at where p.at <= excluded.at - make_interval(secs => interval_s / 2);
  if not found then return false; end if;

  with taken as (
    insert into cn_load_sample
      select k.server_uuid, k.reported_at, r.cpu, r.ram_used
        from cn_capacity k, lateral (
          select nullif((k.report->>'cpu_utilization_pct')::double precision, 0) as cpu,
                 case when (k.report->>'ram_available_mb')::double precision > 0
                           and (k.report->>'ram_total_mb')::double precision > 0
                      then greatest(0, 1 - (k.report->>'ram_available_mb')::double precision
                                           / (k.report->>'ram_total_mb')::double precision) end as ram_used) r
       where k.reported_at > pass_at - interval '5 minutes' and num_nonnulls(r.cpu, r.ram_used) > 0
       order by k.server_uuid
    on conflict do nothing returning *)
  insert into cn_load_hour as h
    select t.server_uuid, date_trunc('hour', t.at, 'UTC'), t.cpu,
           (select array_agg((i = least(20, floor(t.cpu * 20) + 1))::int order by i) from generate_series(1, 20) i)
      from taken t where t.cpu is not null
  on conflict (server_uuid, hour) do update
    set cpu_max = greatest(h.cpu_max, excluded.cpu_max),
        cpu_counts = (select array_agg(a + b order by i)
                        from unnest(h.cpu_counts, excluded.cpu_counts) with ordinality u(a, b, i));
  delete from cn_load_sample where at <= pass_at - interval '5 minutes';
  delete from cn_load_hour where hour <= pass_at - interval '7 days';

  insert into cn_load_summary as l (server_uuid, summary, last_refreshed_at, long_at)
    select s.server_uuid, s.short || coalesce(long.part, '{}'), pass_at,
           case when long.part is null then old.long_at else pass_at end
      from (select server_uuid, jsonb_build_object(
                     'cpu_p50_5m', round(percentile_cont(0.5) within group (order by cpu)::numeric, 4),
                     'cpu_p95_5m', round(percentile_cont(0.95) within group (order by cpu)::numeric, 4),
                     'cpu_max_5m', round(max(cpu)::numeric, 4),
                     'ram_used_p95_5m', round(percentile_cont(0.95) within group (order by ram_used)::numeric, 4),
                     'samples_5m', count(*)) as short
              from cn_load_sample group by server_uuid) s
      left join cn_load_summary old using (server_uuid)
      -- A day changes slowly.
      left join lateral (
        select berth_load_since(s.server_uuid, pass_at - interval '1 day', '1d')
               || berth_load_since(s.server_uuid, pass_at - interval '7 days', '7d') as part
         where old.long_at is null or old.long_at <= pass_at - interval '10 minutes') long on true
     order by s.server_uuid
  on conflict (server_uuid) do update
    set summary = l.summary || excluded.summary, last_refreshed_at = excluded.last_refreshed_at,
        long_at = excluded.long_at;
  return true;
end $$;
