-- Returns the free range of a pool that has the lowest free offset between two bounds, bounds included; no row if these
-- offsets are all taken. A null bound means no limit. The ranges of a pool do not overlap, so if the first range that
-- ends at or after the low bound begins after the high bound, then all later ranges do, too.
create or replace function berth_free_ranges(of_pool text, low_bound bigint, high_bound bigint) returns setof pool_range
language sql stable as $$
  select r.* from (
    select * from pool_range where pool_id = of_pool and high >= coalesce(low_bound, -9223372036854775808)
     order by high limit 1) r
   where r.low <= coalesce(high_bound, r.low) $$;
