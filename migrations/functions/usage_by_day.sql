-- Returns what each project used on each day (UTC), from `first_day` to `last_day`, computed from the spans and the
-- traffic. If `of_project` is not null, only this project is returned. The current day counts up to now. The spans of
-- closed days may be deleted already, so usage_between reads the stored sums of closed days.
create or replace function usage_by_day(first_day date, last_day date, of_project uuid default null)
returns table (project_id uuid, day date, tenant_id uuid, vcpu_seconds numeric, memory_byte_seconds numeric,
               disk_byte_seconds numeric, floating_ip_seconds numeric, network_in_bytes numeric, network_out_bytes numeric)
language sql stable as $$
  with at as (select berth_now() as now),
  days as (
    select d::date as day, d::timestamp at time zone 'UTC' as low, (d + interval '1 day')::timestamp at time zone 'UTC' as high
      from at, generate_series(first_day::timestamp, least(last_day, (at.now at time zone 'UTC')::date)::timestamp,
                               interval '1 day') d),
  spans as (
    select s.project_id, s.tenant_id, days.day, s.vcpus, s.memory_bytes, s.disk_bytes, s.floating_ips,
           extract(epoch from least(coalesce(s.ended_at, at.now), days.high) - greatest(s.began_at, days.low)) as seconds
      from at, days, usage_span s
     where s.began_at < days.high and coalesce(s.ended_at, at.now) > days.low
       and (of_project is null or s.project_id = of_project)),
  parts as (
    select s.project_id, s.day, s.tenant_id, s.vcpus * seconds as vcpu, s.memory_bytes * seconds as memory,
           s.disk_bytes * seconds as disk, s.floating_ips * seconds as ip, 0 as received, 0 as sent from spans s
    union all
    select t.project_id, t.day, t.tenant_id, 0, 0, 0, 0, t.network_in_bytes, t.network_out_bytes from usage_traffic t
     where t.day between first_day and last_day and (of_project is null or t.project_id = of_project))
  select p.project_id, p.day, p.tenant_id, sum(vcpu), sum(memory), sum(disk), sum(ip), sum(received), sum(sent)
    from parts p group by p.project_id, p.day, p.tenant_id $$;
