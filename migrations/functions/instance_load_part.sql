-- Summarizes the samples of instances by the minute, or the minutes by the hour. A call handles the next period that
-- has ended and has no summary. It handles at most `instances` instances of this period (null: all), and the next call
-- continues with the others. Returns false if no period is due, or if another call does this work. A sample counts in
-- the minute in which it arrived. If a counter is lower than in the sample before, the instance started again, and the
-- increase between the two samples is left out. Processor time is rounded to whole microseconds, because the division
-- of a much smaller number fails with an underflow.
create or replace function instance_load_part(of_step text, instances int) returns boolean language plpgsql volatile as $$
declare
  pass_at constant timestamptz := berth_now();
  done    instance_load_done;
  low     timestamptz;
  due     timestamptz;
  ids     uuid[];
begin
  if not pg_try_advisory_xact_lock(hashtextextended('instance-load', 0)) then return false; end if;
  select * into done from instance_load_done where step = of_step;
  if of_step = 'minute' then
    -- Samples are kept for an hour. A minute is due 10 s after its end, because a report may take some time to commit.
    low := greatest(done.at + interval '1 minute', date_trunc('minute', pass_at - interval '1 hour', 'UTC'));
    due := date_trunc('minute', pass_at - interval '10 seconds', 'UTC');
  else
    -- Minutes are kept for 6 hours. An hour is due when its last minute is summarized.
    low := greatest(done.at + interval '1 hour', date_trunc('hour', pass_at - interval '6 hours', 'UTC'));
    select date_trunc('hour', at + interval '1 minute', 'UTC') into due from instance_load_done where step = 'minute';
  end if;
  if low >= due then return false; end if;

  ids := array(
    select id from instance
     where id > case when done.part_of = low then done.part_after else '00000000-0000-0000-0000-000000000000' end
     order by id limit instances);
  if of_step = 'minute' then
    insert into instance_load
      select i.id, 'minute', low, p.*
        from unnest(ids) i(id), lateral (
          select sum(d.cpu) / sum(d.seconds), max(d.cpu / d.seconds), avg(d.memory_bytes)::bigint,
                 sum(d.disk_read) / sum(d.seconds), sum(d.disk_written) / sum(d.seconds),
                 sum(d.received) / sum(d.seconds), sum(d.sent) / sum(d.seconds), bool_or(d.simulated)
            from (select e.memory_bytes, e.simulated, case when e.grew then e.seconds end as seconds,
                         case when e.grew then e.cpu end as cpu, case when e.grew then e.disk_read end as disk_read,
                         case when e.grew then e.disk_written end as disk_written,
                         case when e.grew then e.received end as received, case when e.grew then e.sent end as sent
                    from (select f.*, f.seconds > 0
                                 and least(f.cpu, f.disk_read, f.disk_written, f.received, f.sent) >= 0 as grew
                            from (select m.at, m.memory_bytes, m.simulated,
                                         extract(epoch from m.at - lag(m.at) over run)::double precision as seconds,
                                         round((m.cpu_seconds - lag(m.cpu_seconds) over run)::numeric, 6)
                                           ::double precision as cpu,
                                         m.disk_read_bytes - lag(m.disk_read_bytes) over run as disk_read,
                                         m.disk_written_bytes - lag(m.disk_written_bytes) over run as disk_written,
                                         m.network_received_bytes - lag(m.network_received_bytes) over run as received,
                                         m.network_sent_bytes - lag(m.network_sent_bytes) over run as sent
                                    from instance_metrics m
                                   where m.instance_id = i.id and m.at >= low - interval '1 minute'
                                     and m.at < low + interval '1 minute'
                                  window run as (order by m.at)) f) e
                   where e.at >= low) d
          having count(*) > 0) p
    on conflict do nothing;
  else
    insert into instance_load
      select i.id, 'hour', low, h.*
        from unnest(ids) i(id), lateral (
          select avg(l.cpu), max(l.cpu_max), avg(l.memory_bytes)::bigint, avg(l.disk_read_bytes_per_s),
                 avg(l.disk_written_bytes_per_s), avg(l.network_received_bytes_per_s), avg(l.network_sent_bytes_per_s),
                 bool_or(l.simulated)
            from instance_load l
           where l.instance_id = i.id and l.step = 'minute' and l.at >= low and l.at < low + interval '1 hour'
          having count(*) > 0) h
    on conflict do nothing;
  end if;

  if cardinality(ids) = instances then
    update instance_load_done set part_of = low, part_after = ids[instances] where step = of_step;
  else
    update instance_load_done set at = low, part_of = null, part_after = null where step = of_step;
  end if;
  return true;
end $$;
