-- Works on the first day that is not closed, if this day ended more than `late_s` seconds ago. Adds at most `rows_max`
-- spans and rows of traffic to the stored sums of the day. If no more rows are left, closes the day. The sums of a day
-- can take longer than a statement may take, so the caller repeats the call while it returns true. usage_closed stores
-- in the same commit which rows have been added. Only one call at a time does the work; the others return false. A
-- change gets its time inside its commit, and every commit is shorter than `late_s`. So no later commit changes the
-- spans and the traffic of the day.
create or replace function usage_close_slice(late_s double precision, rows_max int) returns boolean
language plpgsql volatile as $$
declare
  done          usage_closed;
  next_day      date;
  low           timestamptz;
  high          timestamptz;
  last_span     bigint;
  last_instance uuid;
  added         bigint;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('usage-close', 0)) then return false; end if;
  select * into done from usage_closed;
  next_day := done.day + 1;
  low := next_day::timestamp at time zone 'UTC';
  high := (next_day + 1)::timestamp at time zone 'UTC';
  if high + make_interval(secs => late_s) > berth_now() then return false; end if;
  with spans as materialized (
    select * from usage_span where id > done.span_id order by id limit rows_max),
  traffic as materialized (
    select * from usage_traffic where day = next_day and instance_id > done.instance_id
     order by instance_id limit rows_max - (select count(*) from spans)),
  parts as (
    select s.project_id, s.tenant_id, s.vcpus * seconds as vcpu, s.memory_bytes * seconds as memory,
           s.disk_bytes * seconds as disk, s.floating_ips * seconds as ip, 0 as received, 0 as sent
      from spans s, lateral (
        select extract(epoch from least(s.ended_at, high) - greatest(s.began_at, low)) as seconds) l
     where s.began_at < high and coalesce(s.ended_at, high) > low
    union all
    select t.project_id, t.tenant_id, 0, 0, 0, 0, t.network_in_bytes, t.network_out_bytes from traffic t),
  stored as (
    insert into usage_day as d (project_id, day, tenant_id, vcpu_seconds, memory_byte_seconds, disk_byte_seconds,
                                floating_ip_seconds, network_in_bytes, network_out_bytes)
      select p.project_id, next_day, p.tenant_id, sum(vcpu), sum(memory), sum(disk), sum(ip), sum(received), sum(sent)
        from parts p group by p.project_id, p.tenant_id
      on conflict (project_id, day) do update
        set vcpu_seconds = d.vcpu_seconds + excluded.vcpu_seconds,
            memory_byte_seconds = d.memory_byte_seconds + excluded.memory_byte_seconds,
            disk_byte_seconds = d.disk_byte_seconds + excluded.disk_byte_seconds,
            floating_ip_seconds = d.floating_ip_seconds + excluded.floating_ip_seconds,
            network_in_bytes = d.network_in_bytes + excluded.network_in_bytes,
            network_out_bytes = d.network_out_bytes + excluded.network_out_bytes)
  select (select max(id) from spans), (select instance_id from traffic order by instance_id desc limit 1),
         (select count(*) from spans) + (select count(*) from traffic)
    into last_span, last_instance, added;
  if added < rows_max then
    update usage_closed set day = next_day, span_id = default, instance_id = default;
  else
    update usage_closed
       set span_id = coalesce(last_span, span_id), instance_id = coalesce(last_instance, instance_id);
  end if;
  return true;
end $$;
