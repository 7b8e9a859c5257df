-- Closes each day that ended more than `late_s` seconds ago, oldest first and at most 31 days per call. Deletes the
-- rows that are needed only until their day is closed. Returns the number of closed days. Only one call at a time does
-- the work. Only servers of earlier versions call this function; newer servers call usage_close_slice.
create or replace function usage_close(late_s double precision, keep_days int) returns int language plpgsql volatile as $$
declare
  whole_day constant int := 2147483647;
  next_day  date;
  closed    int := 0;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('usage-close', 0)) then return 0; end if;
  while closed < 31 loop
    exit when not usage_close_slice(late_s, whole_day);
    closed := closed + 1;
  end loop;
  if closed = 0 then return 0; end if;
  select day + 1 into next_day from usage_closed;
  -- Deletes spans a day later, because usage_follow reads the end of a resource's last span.
  delete from usage_span where ended_at < (next_day - 1)::timestamp at time zone 'UTC';
  delete from usage_traffic where day < next_day;
  delete from usage_counter c where not exists (select from instance i where i.id = c.instance_id);
  delete from usage_day where day < next_day - keep_days;
  return closed;
end $$;
