-- Summarizes the samples of instances by the minute, and the minutes by the hour, for each period that ended and has no
-- summary. Deletes old summaries. A sample counts in the minute in which it arrived. If a counter fell between two
-- samples, the machine started again, and the increase between them is left out. Processor time is rounded to whole
-- microseconds, because the division of a much smaller number fails with an underflow. Runs inside load_materialize, so
-- only one process at a time does this.
create or replace function instance_load_sum() returns void language plpgsql volatile as $$
declare
  pass_at constant timestamptz := berth_now();
  low     timestamptz;
  high    timestamptz;
begin
  -- Samples are kept for an hour. A report may take some seconds to commit.
  select greatest(at + interval '1 minute', date_trunc('minute', pass_at - interval '1 hour', 'UTC')) into low
    from instance_load_done where step = 'minute';
  high := date_trunc('minute', pass_at - interval '10 seconds', 'UTC');
  if low < high then
    insert into instance_load
      select p.instance_id, 'minute', date_trunc('minute', p.at, 'UTC'),
             sum(p.cpu) / sum(p.seconds), max(p.cpu / p.seconds), avg(p.memory_bytes)::bigint,
             sum(p.disk_read) / sum(p.seconds), sum(p.disk_written) / sum(p.seconds),
             sum(p.received) / sum(p.seconds), sum(p.sent) / sum(p.seconds), bool_or(p.simulated)
        from (select d.instance_id, d.at, d.memory_bytes, d.simulated, case when d.grew then d.seconds end as seconds,
                     case when d.grew then d.cpu end as cpu, case when d.grew then d.disk_read end as disk_read,
                     case when d.grew then d.disk_written end as disk_written,
                     case when d.grew then d.received end as received, case when d.grew then d.sent end as sent
                from (select e.*, e.seconds > 0 and least(e.cpu, e.disk_read, e.disk_written, e.received, e.sent) >= 0
                             as grew
                        from (select m.instance_id, m.at, m.memory_bytes, m.simulated,
                                     extract(epoch from m.at - lag(m.at) over run)::double precision as seconds,
                                     round((m.cpu_seconds - lag(m.cpu_seconds) over run)::numeric, 6)::double precision
                                       as cpu,
                                     m.disk_read_bytes - lag(m.disk_read_bytes) over run as disk_read,
                                     m.disk_written_bytes - lag(m.disk_written_bytes) over run as disk_written,
                                     m.network_received_bytes - lag(m.network_received_bytes) over run as received,
                                     m.network_sent_bytes - lag(m.network_sent_bytes) over run as sent
                                from instance_metrics m where m.at >= low - interval '1 minute' and m.at < high
                              window run as (partition by m.instance_id order by m.at)) e) d
               where d.at >= low) p
       group by p.instance_id, date_trunc('minute', p.at, 'UTC')
    on conflict do nothing;
    update instance_load_done set at = high - interval '1 minute' where step = 'minute';
  end if;

  select greatest(at + interval '1 hour', date_trunc('hour', pass_at - interval '6 hours', 'UTC')) into low
    from instance_load_done where step = 'hour';
  -- Summarizes only hours whose last minute is summarized.
  select date_trunc('hour', at + interval '1 minute', 'UTC') into high from instance_load_done where step = 'minute';
  if low < high then
    insert into instance_load
      select l.instance_id, 'hour', date_trunc('hour', l.at, 'UTC'), avg(l.cpu), max(l.cpu_max),
             avg(l.memory_bytes)::bigint, avg(l.disk_read_bytes_per_s), avg(l.disk_written_bytes_per_s),
             avg(l.network_received_bytes_per_s), avg(l.network_sent_bytes_per_s), bool_or(l.simulated)
        from instance_load l where l.step = 'minute' and l.at >= low and l.at < high
       group by l.instance_id, date_trunc('hour', l.at, 'UTC')
    on conflict do nothing;
    update instance_load_done set at = high - interval '1 hour' where step = 'hour';
  end if;

  delete from instance_load where step = 'minute' and at <= pass_at - interval '6 hours';
  delete from instance_load where step = 'hour' and at <= pass_at - interval '7 days';
end $$;
