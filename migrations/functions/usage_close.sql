-- Closes each day that ended more than `late_s` seconds ago, oldest first and at most 31 days per call: stores the sums
-- of the day, and deletes rows that only closed days needed. Returns the number of closed days. Only one call at a time
-- does the work. A change gets its time inside its commit, and no commit takes as long as `late_s`, so a closed day
-- does not change.
create or replace function usage_close(late_s double precision, keep_days int) returns int language plpgsql volatile as $$
declare
  next_day date;
  closed   int := 0;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('usage-close', 0)) then return 0; end if;
  while closed < 31 loop
    select day + 1 into next_day from usage_closed;
    exit when (next_day + 1)::timestamp at time zone 'UTC' + make_interval(secs => late_s) > berth_now();
    insert into usage_day (project_id, day, tenant_id, vcpu_seconds, memory_byte_seconds, disk_byte_seconds,
                           floating_ip_seconds, network_in_bytes, network_out_bytes)
      select * from usage_by_day(next_day, next_day);
    update usage_closed set day = next_day;
    closed := closed + 1;
  end loop;
  if closed = 0 then return 0; end if;
  -- Deletes spans a day later, because usage_follow reads the end of a resource's last span.
  delete from usage_span where ended_at < (next_day - 1)::timestamp at time zone 'UTC';
  delete from usage_traffic where day < next_day;
  delete from usage_counter c where not exists (select from instance i where i.id = c.instance_id);
  delete from usage_day where day < next_day - keep_days;
  return closed;
end $$;
