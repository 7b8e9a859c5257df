-- Returns the free ranges of a pool that have an offset between two bounds, bounds included. A null bound means no
-- limit.
create or replace function berth_free_ranges(of_pool text, low_bound bigint, high_bound bigint) returns setof pool_range
language sql stable as $$
  select r.* from pool_range r
   where r.pool_id = of_pool and r.high >= coalesce(low_bound, -9223372036854775808)
     and r.low <= coalesce(high_bound, r.low) $$;
