-- Returns {cpu_p50_<of>, cpu_p95_<of>, cpu_max_<of>, samples_<of>} of a node's hours after `since`. Percentiles are exact
-- to 0.05.
create or replace function berth_load_since(of_cn uuid, since timestamptz, of text) returns jsonb language sql stable as $$
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
