-- Stores the last report of each node as a sample, unless the report is older than 5 minutes or has no value. Counts
-- the samples in cn_load_hour, and updates the values of the last 5 minutes in the nodes' summaries. If several calls
-- run at the same time, or less than half of the interval apart, only one call does this work and returns true. A zero
-- in a report means that the node does not know the value.
create or replace function load_sample(interval_s double precision) returns boolean language plpgsql volatile as $$
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

  insert into cn_load_summary as l (server_uuid, summary, last_refreshed_at)
    select server_uuid, jsonb_build_object(
             'cpu_p50_5m', round(percentile_cont(0.5) within group (order by cpu)::numeric, 4),
             'cpu_p95_5m', round(percentile_cont(0.95) within group (order by cpu)::numeric, 4),
             'cpu_max_5m', round(max(cpu)::numeric, 4),
             'ram_used_p95_5m', round(percentile_cont(0.95) within group (order by ram_used)::numeric, 4),
             'samples_5m', count(*)), pass_at
      from cn_load_sample where at > pass_at - interval '5 minutes' group by server_uuid order by server_uuid
  on conflict (server_uuid) do update
    set summary = l.summary || excluded.summary, last_refreshed_at = excluded.last_refreshed_at;
  return true;
end $$;
