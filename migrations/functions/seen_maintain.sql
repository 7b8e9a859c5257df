-- Creates the partitions of the table seen for the days from yesterday to the day after tomorrow. Removes the message
-- ids of days that are more than `keep_days` days before today. Keeps the id of a tell that is in the outbox, because
-- this tell may be delivered again. Days are days in UTC, like the bounds of the partitions. They follow the database's
-- clock and not berth_now(), because message ids contain the time of the database's clock. Runs with the rights of its
-- owner, because the server's own role may not change tables.
create or replace function seen_maintain(keep_days int default 1) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  today   constant date := (now() at time zone 'UTC')::date;
  oldest  constant uuid := seen_bound(today - keep_days);
  -- The ids of old tells that are still in the outbox. There are few or none, unless deliveries fail.
  waiting uuid[];
  day     date;
  part    record;
begin
  perform pg_advisory_xact_lock(hashtextextended('berth:seen_maintain', 0));
  for day in select generate_series(today - 1, today + 2, interval '1 day')::date loop
    if to_regclass(format('seen_%s', to_char(day, 'YYYYMMDD'))) is null then
      begin
        execute format('create table %I partition of seen for values from (%L) to (%L)',
          'seen_' || to_char(day, 'YYYYMMDD'), seen_bound(day), seen_bound(day + 1));
      exception when check_violation then
        -- The default partition already has ids of that day, because the clock of a process was ahead, or because no
        -- server had created the partition in time. The ids stay there until they are old.
        null;
      end;
    end if;
  end loop;
  waiting := array(select id from outbox where id < oldest);
  for part in select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
              where i.inhparent = 'seen'::regclass and c.relname ~ '^seen_[0-9]{8}$'
                and to_date(right(c.relname, 8), 'YYYYMMDD') < today - keep_days loop
    -- The rows of the ids in `waiting` move to the default partition, because no other partition accepts such old ids
    -- now.
    execute format('alter table seen detach partition %I', part.relname);
    execute format('insert into seen select * from %I where msg_id = any($1)', part.relname) using waiting;
    execute format('drop table %I', part.relname);
  end loop;
  -- seen_other is the default partition. It is never dropped, so its old ids are deleted here. The limit keeps the
  -- statement short; the next pass deletes more.
  delete from seen_other where msg_id in (
    select msg_id from seen_other s where msg_id < oldest and not exists (select from outbox o where o.id = s.msg_id)
     order by msg_id limit 20000);
end $$;
