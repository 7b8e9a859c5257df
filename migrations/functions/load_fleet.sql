-- Stores the load of all nodes in cn_load_fleet, one row for each hour. Takes the oldest hours of the last 7 days that
-- have samples and no row yet, at most `hours` hours. Returns the number of stored hours. An hour is due 10 minutes
-- after its end, because a report counts as a sample until it is 5 minutes old. Samples are stored as counts in 20
-- ranges of the processor's use. The mean takes the middle of each range.
create or replace function load_fleet(hours int) returns int language plpgsql volatile as $$
declare
  pass_at constant timestamptz := berth_now();
  stored  int;
begin
  insert into cn_load_fleet (hour, cpu_mean, cpu_max, nodes)
    select due.hour, fleet.cpu_mean, fleet.cpu_max, fleet.nodes
      from (select g.hour
              from generate_series(date_trunc('hour', pass_at - interval '7 days', 'UTC') + interval '1 hour',
                                   date_trunc('hour', pass_at - interval '10 minutes', 'UTC') - interval '1 hour',
                                   interval '1 hour') g(hour)
             where not exists (select from cn_load_fleet f where f.hour = g.hour)
               and exists (select from cn_load_hour h where h.hour = g.hour)
             order by g.hour limit hours) due,
           lateral (
             select round(avg(round((c.weighted / nullif(c.total, 0))::numeric, 4)::float8)::numeric, 4) as cpu_mean,
                    max(h.cpu_max) as cpu_max, count(*) as nodes
               from cn_load_hour h, lateral (
                 select sum(n) as total, sum(n * (i - 0.5) / 20) as weighted
                   from unnest(h.cpu_counts) with ordinality u(n, i)) c
              where h.hour = due.hour having count(*) > 0) fleet
  on conflict do nothing;
  get diagnostics stored = row_count;
  return stored;
end $$;
