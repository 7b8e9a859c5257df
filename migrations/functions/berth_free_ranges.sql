-- Returns the first free range of a pool that has an offset from low_bound to high_bound. Returns no row if all these
-- offsets are taken. A null bound means no limit. Reads only the first range that ends at or after low_bound: if this
-- range begins after high_bound, all later ranges do.
create or replace function berth_free_ranges(of_pool text, low_bound bigint, high_bound bigint) returns setof pool_range
language sql stable as $$
  select r.* from (
    select * from pool_range where pool_id = of_pool and high >= coalesce(low_bound, -9223372036854775808)
     order by high limit 1) r
   where r.low <= coalesce(high_bound, r.low) $$;
